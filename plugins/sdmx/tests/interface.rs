//! The adapter against what every adapter must hold.

use yearbook_sdmx::Sdmx;

#[test]
fn an_adapter_holds_its_interface_contract_17() {
    yearbook_sdk::testing::adapting::check::<Sdmx>();
}
