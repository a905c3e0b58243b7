//! What clients see of the tools: schemas that every client understands, names and sizes within what clients take.

use std::collections::BTreeSet;

use hyperdbg_mcp::generated;
use hyperdbg_mcp::policy::text_of;
use hyperdbg_mcp::server::Registry;
use hyperdbg_mcp::tier::Tier;
use hyperdbg_mcp::tool::schema::{Side, violations};
use hyperdbg_mcp::tool::surface::{self, Groups, Selection, Standing};
use hyperdbg_mcp::tool::{Tool, ToolSpec};
use serde_json::{Value, json};

fn registry(groups: Groups, read_only: bool) -> Registry {
    Registry::new(Selection { groups, read_only }).unwrap_or_else(|error| panic!("{error}"))
}

fn everything() -> Registry {
    registry(Groups::All, false)
}

fn names(registry: &Registry) -> Vec<&str> {
    registry
        .served()
        .iter()
        .map(|served| served.tool.spec.name)
        .collect()
}

#[test]
fn every_schema_is_portable() {
    for served in everything().served() {
        let model = serde_json::to_value(&served.model).unwrap();
        assert_eq!(
            violations(&model["inputSchema"], Side::Input),
            Vec::<String>::new(),
            "{}",
            model["name"]
        );
        assert_eq!(
            violations(&model["outputSchema"], Side::Output),
            Vec::<String>::new(),
            "{}",
            model["name"]
        );
    }
}

#[test]
fn names_and_descriptions_are_within_what_clients_take() {
    let mut seen = BTreeSet::new();
    for tool in surface::all() {
        let spec = tool.spec;
        assert!(seen.insert(spec.name), "{} is there twice", spec.name);
        assert!(spec.name.len() <= 32, "{}", spec.name);
        assert!(
            spec.name.starts_with(&format!("hd_{}_", spec.group)),
            "{}",
            spec.name
        );
        assert!(
            spec.name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        );
        let length = spec.description.chars().count();
        assert!((1..=1_000).contains(&length), "{}: {length}", spec.name);
        assert!(!spec.title.is_empty());
    }
}

#[test]
fn the_default_surface_is_small() {
    let registry = registry(Groups::Default, false);
    let tools: Vec<_> = registry.served().iter().map(|served| &served.model).collect();
    let bytes = serde_json::to_string(&tools).unwrap().len();
    println!("{} tools, {bytes} bytes", tools.len());
    assert!(tools.len() <= 25, "{} tools", tools.len());
    assert!(bytes <= 30_000, "{bytes} bytes");
}

#[test]
fn descriptions_name_no_other_tool() {
    let all: Vec<&str> = surface::all().map(|tool| tool.spec.name).collect();
    for tool in surface::all() {
        for name in &all {
            assert!(
                !tool.spec.description.contains(name),
                "{} names {name}",
                tool.spec.name
            );
        }
    }
}

#[test]
fn without_flags_every_tool_of_the_default_groups_is_served() {
    let registry = registry(Groups::Default, false);
    for served in registry.served() {
        let spec = served.tool.spec;
        assert!(
            spec.default || ["session", "output"].contains(&spec.group),
            "{}",
            spec.name
        );
    }
    let names = names(&registry);
    for name in [
        "hd_mem_read",
        "hd_mem_write",
        "hd_exec_command",
        "hd_reg_read_all",
        "hd_mod_list",
        "hd_session_status",
        "hd_output_read",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn read_only_wins_over_every_other_flag() {
    let registry = registry(Groups::All, true);
    // What takes a text is decided about at each call, and says of itself that it only reads here.
    let classified = |spec: &ToolSpec| text_of(spec.name).is_some();
    for served in registry.served() {
        let spec = served.tool.spec;
        assert!(spec.tier == Tier::Read || classified(spec), "{}", spec.name);
        let hints = &serde_json::to_value(&served.model).unwrap()["annotations"];
        assert_eq!(hints["readOnlyHint"], true, "{}", spec.name);
        assert_eq!(hints["destructiveHint"], false, "{}", spec.name);
    }
    let above = |tool: &&Tool| tool.spec.tier > Tier::Read && !classified(tool.spec);
    for tool in surface::all().filter(above) {
        assert_eq!(registry.selection().standing(tool), Standing::ReadOnly);
        let refusal = registry.selection().refusal(tool).unwrap();
        assert!(refusal.message.contains("--read-only"), "{refusal}");
    }
}

#[test]
fn refusals_name_the_flag_to_use() {
    let selection = Selection::default();
    for tool in surface::all() {
        let Some(refusal) = selection.refusal(tool) else {
            continue;
        };
        let step = refusal.next_step.unwrap();
        match selection.standing(tool) {
            Standing::NeedsGroup => assert!(step.contains(&format!("--tools {}", tool.spec.group)), "{step}"),
            other => panic!("{}: {other:?}", tool.spec.name),
        }
    }
}

#[test]
fn annotations_follow_from_the_tier() {
    for served in everything().served() {
        let model = serde_json::to_value(&served.model).unwrap();
        let hints = model["annotations"].clone();
        let spec = served.tool.spec;
        assert_eq!(model["title"], spec.title);
        assert_eq!(
            hints["readOnlyHint"],
            json!(spec.tier == Tier::Read),
            "{}",
            spec.name
        );
        assert_eq!(
            hints["destructiveHint"],
            json!(spec.tier == Tier::Destructive),
            "{}",
            spec.name
        );
        assert!(hints["idempotentHint"].is_boolean() && hints["openWorldHint"].is_boolean());
    }
}

#[test]
fn groups_are_parsed_with_a_list_in_the_error() {
    assert_eq!(Groups::parse(" ALL "), Ok(Groups::All));
    assert_eq!(Groups::parse(""), Ok(Groups::Default));
    assert!(Groups::parse("mem,nothing").unwrap_err().contains("mem"));
    let Ok(Groups::These(groups)) = Groups::parse("mem, REG") else {
        panic!()
    };
    assert_eq!(groups.into_iter().collect::<Vec<_>>(), ["mem", "reg"]);
}

/// The lists of tools and results of one client are the same whenever it asks.
#[test]
fn the_list_is_the_same_every_time() {
    let text = |registry: &Registry| -> Vec<Value> {
        registry
            .served()
            .iter()
            .map(|served| serde_json::to_value(&served.model).unwrap())
            .collect()
    };
    assert_eq!(text(&everything()), text(&everything()));
}

#[test]
fn hand_written_tools_and_annotations_name_each_other() {
    let written: Vec<_> = hyperdbg_mcp::composite::TOOLS
        .iter()
        .map(|tool| tool.spec)
        .collect();
    for (name, functions) in generated::COMPOSITES {
        let spec = written
            .iter()
            .find(|spec| spec.name == *name)
            .unwrap_or_else(|| panic!("api/ names the hand-written tool {name}, which is not there"));
        for function in *functions {
            assert!(
                spec.functions.contains(function),
                "api/ says that {name} calls {function}, and it does not declare it"
            );
        }
    }
    for spec in written.iter().filter(|spec| !spec.functions.is_empty()) {
        // A tool that only looks at what another one started is nobody's own.
        let looks_on = spec.name == "hd_exec_wait";
        let named = generated::COMPOSITES.iter().any(|(name, _)| *name == spec.name);
        assert!(
            named || looks_on,
            "no function in api/ names the hand-written tool {}",
            spec.name
        );
    }
}

#[test]
fn groups_of_hand_written_tools_are_groups_of_the_catalog() {
    for tool in hyperdbg_mcp::composite::TOOLS {
        let group = generated::GROUPS
            .iter()
            .find(|group| group.name == tool.spec.group);
        match group {
            Some(group) => assert_eq!(group.default, tool.spec.default, "{}", tool.spec.name),
            None => assert_eq!(tool.spec.group, "output", "{}", tool.spec.name),
        }
    }
}
