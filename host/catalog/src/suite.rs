//! Rules of the catalog and of what stands on it: one list, run on every database. A new database
//! adds a module below with a [`TestDatabase`] of its own.

mod accounts;
mod canary;
mod catalog_cache;
pub(crate) mod changes;
mod citations;
mod clocks;
mod conflict;
pub(crate) mod fixtures;
mod history;
mod hosts;
mod key_verifier;
mod keys;
mod log_entries;
mod model;
mod past_versions;
mod quota;
mod releases;
mod retention;
mod source_checks;
mod transactions;
mod unreferenced;
mod usage;
mod versions;
mod waiting;
mod webhooks;

use std::pin::Pin;
use std::sync::Arc;

use crate::Catalog;

type OpenFuture = Pin<Box<dyn Future<Output = Arc<Catalog>> + Send>>;

/// A database of its own for one rule.
pub(crate) struct TestDatabase {
    open: Box<dyn Fn() -> OpenFuture + Send + Sync>,
    /// Kept until the rule has been checked.
    _folder: Option<tempfile::TempDir>,
}

impl TestDatabase {
    /// Returns a catalog on this database: another host's, with connections of its own, at each
    /// call.
    pub(crate) async fn host(&self) -> Arc<Catalog> {
        (self.open)().await
    }
}

/// Runs every rule on the databases that `$database` gives.
macro_rules! every_rule {
    ($database:expr) => {
        rules! { $database;
            history: a_fresh_catalogue_is_empty,
            history: a_snapshot_comes_back_as_it_went_in,
            history: many_datasets_are_read_at_once_as_one_by_one,
            history: datasets_are_sorted_by_name,
            history: what_moved_is_read_again_and_nothing_else,
            history: the_newest_commit_is_current,
            history: the_same_snapshot_only_moves_checked_at_contract_7,
            history: a_file_written_anew_replaces_the_old_one_and_the_snapshot_keeps_its_age,
            history: a_late_publisher_does_not_turn_checked_at_back,
            history: data_that_went_back_is_current_again,
            history: a_known_history_has_retained_and_dropped_versions_contract_21,
            past_versions: a_time_names_the_version_that_was_current_contract_21,
            past_versions: what_leads_back_to_a_version_is_known_and_kept_contract_21,
            past_versions: a_file_written_anew_leads_back_all_the_same_contract_21,
            past_versions: a_version_without_a_way_back_keeps_its_file_contract_21,
            past_versions: changes_behind_a_held_snapshot_bound_the_way_back_contract_21,
            past_versions: a_history_is_forgotten_from_its_beginning_contract_21,
            retention: a_retired_dataset_is_gone_until_published_again_contract_4,
            retention: what_retention_drops_leaves_a_tombstone_contract_4,
            retention: a_dropped_snapshot_that_is_published_again_is_retained,
            retention: datasets_do_not_drop_each_others_history,
            retention: referenced_files_are_those_of_retained_snapshots,
            transactions: the_revision_moves_with_every_change_that_readers_must_notice,
            transactions: a_commit_that_fails_leaves_nothing,
            transactions: concurrent_publishers_leave_one_whole_history,
            transactions: readers_never_see_half_a_commit,
            changes: a_history_of_changes_comes_back_in_order,
            changes: a_gap_begins_the_history_anew,
            changes: changes_outlive_a_snapshot_dropped_between_retained_ones,
            changes: a_file_written_anew_keeps_its_changes,
            citations: preview_facts_are_stored_with_their_snapshot_contract_9,
            citations: versions_say_what_they_changed_contract_9,
            citations: a_dropped_snapshot_is_cited_as_it_was_contract_13,
            citations: a_held_snapshot_is_kept_for_ever_contract_13,
            versions: versions_are_dense_and_never_given_twice_contract_12,
            versions: a_commit_that_fails_takes_no_version_contract_12,
            versions: changes_of_columns_are_counted_whatever_retention_drops_contract_19,
            versions: columns_that_wait_are_counted_as_they_will_be_contract_19,
            versions: columns_of_kept_versions_are_counted_by_the_migration_contract_19,
            versions: two_hosts_that_publish_give_each_version_once_contract_12,
            versions: retained_versions_and_times_of_dropped_ones_are_read_at_once_contract_12,
            versions: changes_are_those_of_both_ends_and_between_contract_12,
            versions: licences_along_changes_are_those_of_dropped_snapshots_too_contract_12,
            log_entries: a_version_is_logged_when_it_becomes_visible_contract_21,
            log_entries: a_release_is_logged_at_its_time_and_not_before_contract_21,
            log_entries: two_hosts_that_publish_leave_a_dense_log_contract_21,
            log_entries: what_an_older_host_published_is_logged_with_the_next_version_contract_21,
            log_entries: the_log_begins_with_what_can_still_be_read_contract_21,
            log_entries: hashes_are_added_once_and_read_in_order_contract_21,
            waiting: what_waits_is_in_nothing_that_is_served_contract_21,
            waiting: while_a_release_waits_nothing_else_becomes_of_its_dataset_contract_21,
            waiting: a_dataset_whose_first_release_is_withdrawn_was_never_checked_contract_8,
            waiting: a_release_is_visible_from_its_time_on_contract_21,
            waiting: a_release_is_moved_and_withdrawn_until_ten_seconds_before_contract_21,
            waiting: a_release_that_is_late_is_visible_at_its_commit_contract_21,
            waiting: a_retired_dataset_comes_back_at_the_time_of_its_release_contract_21,
            waiting: hosts_turn_to_a_release_at_its_time_and_never_before_contract_21,
            waiting: what_a_host_shows_is_visible_though_the_clock_was_set_back_contract_21,
            waiting: a_host_that_hears_nothing_shows_no_release_contract_21,
            waiting: what_waits_is_kept_by_retention_and_counted_for_nothing_contract_21,
            hosts: hosts_are_listed_until_they_stop_or_are_silent_contract_21,
            webhooks: an_address_is_told_of_what_is_published_after_it_in_order_contract_21,
            webhooks: of_several_hosts_one_attempts_a_message_contract_21,
            webhooks: what_failed_waits_and_ends_alone_contract_21,
            webhooks: an_address_goes_with_its_account_contract_21,
            webhooks: neither_versions_nor_attempts_of_the_future_silence_an_address_contract_6,
            conflict: a_draft_whose_predecessor_has_moved_is_refused,
            conflict: what_is_current_already_is_unchanged_whatever_it_was_compared_with,
            conflict: a_retired_dataset_is_followed_without_a_gap,
            conflict: the_database_tells_when_and_no_two_snapshots_share_a_second,
            source_checks: a_source_is_claimed_by_one_refresh_at_a_time_contract_8,
            source_checks: a_good_check_moves_checked_at_of_what_it_checked_contract_8,
            source_checks: last_checks_are_counted_for_metrics_contract_8,
            clocks: a_lease_of_the_future_has_ended_and_a_check_of_the_future_is_due_contract_8,
            clocks: a_snapshot_of_the_future_drops_no_young_one_and_is_checked_now_contract_6,
            clocks: a_dropped_version_of_the_future_gets_a_date_of_the_past_contract_21,
            clocks: a_release_waits_for_no_version_of_the_future_contract_21,
            clocks: links_of_the_future_fill_no_bounds_and_mails_of_the_future_are_due_contract_10,
            clocks: marks_and_registrations_of_the_future_keep_no_object,
            clocks: a_key_that_was_revoked_in_the_future_is_revoked_contract_5,
            clocks: times_of_the_future_are_counted_contract_6,
            unreferenced: the_clock_is_the_present,
            unreferenced: what_nobody_declared_is_not_named,
            unreferenced: what_is_loose_for_long_is_removed_once_and_what_is_named_never,
            unreferenced: what_was_removed_meanwhile_is_not_named,
            unreferenced: what_is_let_go_is_loose_from_then_on,
            unreferenced: retention_applies_without_a_publish,
            model: no_order_of_events_loses_a_live_file,
            keys: a_key_is_found_by_its_hash_alone,
            keys: ids_and_hashes_are_unique,
            keys: a_key_is_revoked_once,
            keys: a_secret_is_the_same_on_every_host_for_ever,
            keys: links_of_one_key_are_ended_at_a_time,
            accounts: a_hundred_confirmations_over_two_hosts_make_one_key_contract_10,
            accounts: looking_at_a_link_consumes_nothing_contract_10,
            accounts: bounds_on_mails_are_exact_across_hosts_contract_10,
            accounts: a_key_replaced_a_hundred_times_leaves_the_months_count_contract_10,
            accounts: neither_revoking_nor_deleting_gives_new_requests_contract_10,
            accounts: a_deleted_account_is_forgotten_when_its_month_has_ended_contract_10,
            accounts: a_replaced_key_ends_when_its_holder_said_contract_10,
            accounts: keys_without_proof_share_one_months_count_contract_10,
            accounts: a_mail_is_leased_to_one_host_at_a_time_contract_10,
            usage: the_eleventh_request_is_refused_contract_5,
            usage: of_fifty_concurrent_requests_on_two_hosts_ten_are_granted_contract_5,
            usage: what_is_given_back_can_be_taken_again,
            usage: months_and_keys_are_counted_apart,
            usage: a_limit_of_zero_grants_nothing,
            usage: unlimited_usage_is_added_all_or_none,
            releases: a_release_is_registered_once_and_keeps_its_state,
            releases: the_reference_of_a_release_follows_the_newest_and_outlasts_a_file,
            releases: what_may_not_become_of_a_release_does_not_happen,
            releases: a_promotion_goes_before_earlier_ones,
            releases: a_name_has_one_pin_and_a_release_out_of_service_none,
            canary: what_hosts_saw_of_a_release_is_added_up,
            canary: of_two_hosts_that_conclude_the_same_one_records_it,
            canary: a_conclusion_that_no_longer_holds_is_not_recorded,
            canary: quarantines_are_counted_until_an_operator_promotes_the_release,
            canary: a_release_that_is_installed_anew_is_tried_anew,
            canary: a_quarantine_that_ends_passes_nothing_that_was_promoted_meanwhile_contract_6,
            releases: a_store_describes_itself_and_takes_writes_until_it_is_closed,
            catalog_cache: a_publish_by_another_process_is_seen_within_2_s_contract_6,
            catalog_cache: a_release_of_another_process_is_known_within_2_s_contract_6,
            catalog_cache: the_last_view_stays_when_the_database_fails,
            catalog_cache: the_catalogue_is_read_again_only_when_the_revision_moved,
            catalog_cache: unknown_names_cost_no_query_contract_5,
            catalog_cache: pinned_snapshots_are_remembered_until_the_revision_moves,
            catalog_cache: following_ends_with_the_last_handle,
            key_verifier: a_mistyped_key_costs_no_query_contract_5,
            key_verifier: a_good_key_is_asked_for_once,
            key_verifier: an_unknown_key_works_within_2_s_of_being_made_contract_6,
            key_verifier: a_revoked_key_is_refused_within_2_s_contract_6,
            key_verifier: ended_links_are_known_to_every_host_within_2_s_contract_15,
            key_verifier: a_failing_database_does_not_make_a_key_unknown,
            key_verifier: what_is_known_of_keys_outlives_everything_but_a_change_of_keys,
            key_verifier: without_the_database_known_keys_go_on_for_the_stated_time,
            key_verifier: unknown_keys_are_looked_up_a_few_at_a_time_contract_5,
            key_verifier: an_unknown_key_that_waits_too_long_is_told_to_come_back_contract_5,
            key_verifier: a_revocation_does_not_make_other_keys_strangers_contract_5,
            quota: a_reservation_carries_what_the_headers_say,
            quota: a_dropped_reservation_is_given_back_contract_5,
            quota: a_released_reservation_is_given_back_at_once,
            quota: a_committed_reservation_stays_charged,
            quota: a_caller_that_goes_away_while_waiting_is_charged_nothing,
            quota: what_could_not_be_given_back_is_given_back_later,
            quota: unlimited_plans_are_counted_in_memory_and_written_each_second,
            quota: shutdown_writes_every_count,
            quota: counts_survive_a_failing_database,
            quota: no_two_meters_grant_the_last_request_contract_5,
            quota: a_month_that_ends_is_charged_to_the_month_it_began_in,
            quota: a_clock_that_jumps_neither_loses_nor_doubles_a_charge_contract_5,
        }
    };
}

macro_rules! rules {
    ($database:expr; $($group:ident: $rule:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                // A database that is not there has said so.
                if let Some(place) = $database {
                    crate::suite::$group::$rule(place).await;
                }
            }
        )*
    };
}

mod sqlite_file {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::TestDatabase;
    use crate::{DatabaseSettings, open, sqlite_url};

    fn place() -> TestDatabase {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite_url(&folder.path().join("catalogue.db"));
        let open = move || {
            let url = url.clone();
            Box::pin(async move { open(&url, &DatabaseSettings::default()).await.unwrap() })
                as super::OpenFuture
        };
        TestDatabase { open: Box::new(open), _folder: Some(folder) }
    }

    every_rule!(Some(place()));
}

mod sqlite_memory {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use tokio::sync::OnceCell;

    use super::TestDatabase;
    use crate::{Catalog, DatabaseSettings, open};

    /// A database in memory has one host.
    fn place() -> TestDatabase {
        let store: Arc<OnceCell<Arc<Catalog>>> = Arc::default();
        let open = move || {
            let store = Arc::clone(&store);
            Box::pin(async move {
                store
                    .get_or_init(async || {
                        open("sqlite::memory:", &DatabaseSettings::default()).await.unwrap()
                    })
                    .await
                    .clone()
            }) as super::OpenFuture
        };
        TestDatabase { open: Box::new(open), _folder: None }
    }

    every_rule!(Some(place()));
}

mod postgres {
    use super::TestDatabase;
    use crate::postgres::tests::TestSchema;

    fn place() -> Option<TestDatabase> {
        let schema = TestSchema::new()?;
        let open = move || {
            let schema = schema.clone();
            Box::pin(async move { schema.store().await }) as super::OpenFuture
        };
        Some(TestDatabase { open: Box::new(open), _folder: None })
    }

    every_rule!(place());
}
