//! Moments at which a run is killed, spread over the time that it takes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::deployment::CrashDeployment;

/// Number of runs of a kind that are killed in each place: a quarter of all points. A tenth as many
/// again begin on fresh data directories.
pub(super) fn kills_per_case() -> u32 {
    let all =
        std::env::var("YEARBOOK_TEST_CRASH_POINTS").map_or(100, |points| points.parse().unwrap());
    (all / 4).max(1)
}

/// Moments within 0..1, different at each run of the test.
pub(super) struct KillMoments(u64);

impl KillMoments {
    pub(super) fn new() -> Self {
        let seed =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let seed = u64::try_from(seed & 0xffff_ffff_ffff).unwrap();
        println!("moments from seed {seed}");
        Self(seed)
    }

    /// The next moment (SplitMix64).
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

/// Outcomes of runs that were to be killed.
#[derive(Debug)]
pub(super) struct KillTally {
    /// Expected duration of a run: a machine with other load is not always as fast.
    takes: Duration,
    pub(super) killed: u32,
    /// Runs that had ended by then.
    pub(super) ended: u32,
}

impl KillTally {
    pub(super) fn new(takes: Duration) -> Self {
        Self { takes, killed: 0, ended: 0 }
    }

    /// Runs `arguments` and kills it at `moment`, of which 1 is a little after its end.
    pub(super) fn kill(&mut self, deployment: &CrashDeployment, arguments: &[&str], moment: f64) {
        let mut child = deployment
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(self.takes.mul_f64(moment * 1.1));
        child.kill().unwrap();
        match child.wait().unwrap().code() {
            None => {
                self.killed += 1;
                self.takes = self.takes.mul_f64(1.01);
            }
            Some(0) => {
                self.ended += 1;
                self.takes = self.takes.mul_f64(0.95);
            }
            code => panic!("{arguments:?} ended by itself with {code:?}"),
        }
    }
}

/// Duration of `run` on a quiet machine: the shortest of three times, so that most of the
/// moments come before its end.
pub(super) fn time_run(mut run: impl FnMut()) -> Duration {
    let mut once = || {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap()
}
