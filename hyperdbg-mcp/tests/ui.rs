//! What the types refuse: text of the target as our own words, and a tool above its tier.

#[test]
fn untrusted_data_and_tiers_have_no_way_around() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
