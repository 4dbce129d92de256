//! Functions that guests of several kinds call, as text: what does harm, and memory.

/// Loops, recursion and memory without end.
pub(super) const HAZARDS: &str = "
  (func $spin (result i32) (loop (br 0)) (unreachable))
  (func $recurse (result i32) (i32.add (call $recurse) (i32.const 1)))
  (func $grow (param $pages i32) (result i32)
    (loop (br_if 0 (i32.ne (memory.grow (local.get $pages)) (i32.const -1))))
    (unreachable))
";

/// Memory on demand: `$room` is the address of new pages, `$allocate` serves `cabi_realloc` from
/// the global `$heap` on.
pub(super) const MEMORY: &str = "
  (func $room (param $pages i32) (result i32)
    (i32.mul (memory.grow (local.get $pages)) (i32.const 65536)))
  (func $allocate (param $align i32) (param $size i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
                            (i32.sub (i32.const 0) (local.get $align))))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow
        (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))))))
    (local.get $at))
";
