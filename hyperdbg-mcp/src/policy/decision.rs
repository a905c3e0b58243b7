//! The one place that says what becomes of a call: it runs, a person confirms it, or it is refused.

use super::{Level, Verdict, form_level, forms};
use crate::tier::Tier;
use crate::tool::ToolSpec;
use crate::tool::surface;

/// Something that an operator lets run without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// Every call up to this tier.
    Tier(Tier),
    /// Every call of this tool.
    Tool(&'static str),
    /// Commands of this form, as far as nothing else in the line is worse than Read.
    Form(String),
}

impl Permit {
    /// What `--allow` says: a tier, the name of a tool, or a form of `api/commands.json`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text {
            "read" => return Ok(Self::Tier(Tier::Read)),
            "state" => return Ok(Self::Tier(Tier::State)),
            "destructive" => return Ok(Self::Tier(Tier::Destructive)),
            _ => {}
        }
        if let Some(tool) = surface::all().find(|tool| tool.spec.name == text) {
            return Ok(Self::Tool(tool.spec.name));
        }
        if forms().any(|form| form == text) {
            return Ok(Self::Form(text.to_owned()));
        }
        let names = ["read", "state", "destructive"]
            .into_iter()
            .chain(surface::all().map(|tool| tool.spec.name))
            .chain(forms());
        let hint = surface::nearest(text, names)
            .map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
        Err(format!(
            "`{text}` is no tier (state, destructive), no tool and no form of a command{hint}"
        ))
    }
}

/// Whether people are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirm {
    /// Every call that can destroy something is confirmed by a person.
    #[default]
    Ask,
    /// Nobody is asked: for laboratories without people.
    Never,
}

/// What the operator has laid down for the life of the process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Nothing above Read runs, whatever else is said.
    pub read_only: bool,
    /// What runs without being asked for.
    pub permits: Vec<Permit>,
    /// Whether people are asked.
    pub confirm: Confirm,
    /// Texts are sent without being classified.
    pub unclassified: bool,
}

impl Rules {
    /// The forms that are allowed although they are never sent by default.
    pub fn forms(&self) -> Vec<String> {
        let form = |permit: &Permit| match permit {
            Permit::Form(form) => Some(form.clone()),
            _ => None,
        };
        self.permits.iter().filter_map(form).collect()
    }

    /// What has to be said at the start and in every result, because it takes a protection away.
    pub fn warning(&self) -> Option<String> {
        let mut off = Vec::new();
        if self.unclassified {
            off.push("commands, expressions and scripts are NOT CLASSIFIED (--unclassified)");
        }
        if self.confirm == Confirm::Never && !self.read_only {
            off.push("NOBODY CONFIRMS what can destroy the target (--confirm never)");
        }
        (!off.is_empty()).then(|| format!("UNSAFE: {}", off.join("; ")))
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Run,
    /// It runs when a person has confirmed it.
    Confirm,
    /// It does not run.
    Refuse {
        /// What to do instead.
        step: String,
    },
}

/// A decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What the call can do; `None` when it must never be made.
    pub tier: Option<Tier>,
    /// What becomes of it.
    pub decision: Decision,
    /// Why.
    pub reason: String,
}

/// Decides about a call of `tool`, whose text has the `verdict` where it takes one.
pub fn decide(rules: &Rules, tool: &ToolSpec, verdict: Option<&Verdict>) -> Ruling {
    let classified = verdict.filter(|_| !rules.unclassified);
    let level = classified.map_or(Level::from(tool.tier), |verdict| verdict.level);
    let what = match classified {
        Some(verdict) => verdict.reason.clone(),
        None => format!("{} is of tier {}", tool.name, tool.tier),
    };
    let Some(tier) = level.tier() else {
        return Ruling {
            tier: None,
            decision: Decision::Refuse {
                step: never_step(classified),
            },
            reason: format!("never sent: {what}"),
        };
    };
    let (decision, reason) = if tier == Tier::Read {
        (Decision::Run, what)
    } else if rules.read_only {
        let step = "Only a person can change that: by starting hyperdbg-mcp without --read-only.";
        (
            Decision::Refuse {
                step: step.to_owned(),
            },
            format!("{what}; this server runs with --read-only"),
        )
    } else if tier == Tier::State {
        (Decision::Run, what)
    } else if let Some(by) = permitted(rules, tool, tier, classified) {
        (Decision::Run, format!("{what}; allowed by {by}"))
    } else if rules.confirm == Confirm::Never {
        (Decision::Run, format!("{what}; not confirmed (--confirm never)"))
    } else {
        (Decision::Confirm, what)
    };
    Ruling {
        tier: Some(tier),
        decision,
        reason,
    }
}

fn never_step(verdict: Option<&Verdict>) -> String {
    match verdict.and_then(|verdict| verdict.allow.as_deref()) {
        Some(form) => {
            format!("Leave it out, or a person starts hyperdbg-mcp with --allow {form}.")
        }
        None => "Leave that out; no flag allows it.".to_owned(),
    }
}

/// The flag that lets the call run without being confirmed.
fn permitted(rules: &Rules, tool: &ToolSpec, tier: Tier, verdict: Option<&Verdict>) -> Option<String> {
    rules.permits.iter().find_map(|permit| match permit {
        Permit::Tier(up_to) => (tier <= *up_to).then(|| format!("--allow {up_to}")),
        Permit::Tool(name) => (*name == tool.name).then(|| format!("--allow {name}")),
        Permit::Form(form) => {
            let verdict = verdict?;
            let own = form_level(form)?;
            // A writer in an argument of the form is not the form.
            let covers = verdict.form.as_deref() == Some(form.as_str())
                && own >= verdict.level
                && verdict.beside < verdict.level;
            covers.then(|| format!("--allow {form}"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Kind, Options, classify, text_of};

    fn spec(name: &str) -> &'static ToolSpec {
        surface::all().find(|tool| tool.spec.name == name).unwrap().spec
    }

    fn command(rules: &Rules, text: &str) -> Decision {
        let allow = rules.forms();
        let options = Options {
            attached: Some(true),
            allow: &allow,
            ..Options::default()
        };
        let verdict = classify(Kind::Command, text, &options);
        decide(rules, spec("hd_exec_command"), Some(&verdict)).decision
    }

    fn allow(what: &str) -> Rules {
        Rules {
            permits: vec![Permit::parse(what).unwrap()],
            ..Rules::default()
        }
    }

    #[test]
    fn by_default_reading_and_state_run_and_the_rest_is_confirmed() {
        let rules = Rules::default();
        for tool in surface::all() {
            let wanted = match tool.spec.tier {
                Tier::Read | Tier::State => Decision::Run,
                Tier::Destructive => Decision::Confirm,
            };
            assert_eq!(
                decide(&rules, tool.spec, None).decision,
                wanted,
                "{}",
                tool.spec.name
            );
        }
        assert_eq!(command(&rules, "lm"), Decision::Run);
        assert_eq!(command(&rules, "bp 0x1000"), Decision::Run);
        assert_eq!(command(&rules, "r @rax = 1"), Decision::Confirm);
        assert!(matches!(command(&rules, "exit"), Decision::Refuse { .. }));
    }

    #[test]
    fn read_only_wins_over_everything() {
        let rules = Rules {
            read_only: true,
            confirm: Confirm::Never,
            unclassified: true,
            permits: vec![Permit::Tier(Tier::Destructive), Permit::Tool("hd_mem_write")],
        };
        for tool in surface::all().filter(|tool| tool.spec.tier > Tier::Read) {
            assert!(
                matches!(decide(&rules, tool.spec, None).decision, Decision::Refuse { .. }),
                "{}",
                tool.spec.name
            );
        }
        let rules = Rules {
            unclassified: false,
            ..rules
        };
        assert_eq!(command(&rules, "lm"), Decision::Run);
        assert!(matches!(command(&rules, "bp 0x1000"), Decision::Refuse { .. }));
    }

    #[test]
    fn a_permit_lets_through_what_it_names_and_no_more() {
        let by_tool = allow("hd_mem_write");
        assert_eq!(
            decide(&by_tool, spec("hd_mem_write"), None).decision,
            Decision::Run
        );
        assert_eq!(
            decide(&by_tool, spec("hd_reg_write"), None).decision,
            Decision::Confirm
        );
        let by_tier = allow("destructive");
        assert_eq!(
            decide(&by_tier, spec("hd_reg_write"), None).decision,
            Decision::Run
        );
        assert!(matches!(command(&by_tier, "exit"), Decision::Refuse { .. }));
        assert_eq!(
            decide(&allow("state"), spec("hd_reg_write"), None).decision,
            Decision::Confirm
        );
    }

    #[test]
    fn a_permitted_form_covers_no_writer_in_its_arguments() {
        let verdict = |text: &str| classify(Kind::Command, text, &Options::default());
        let form = verdict("eb 0x1000 90").form.unwrap();
        assert_eq!(command(&allow(&form), "eb 0x1000 90"), Decision::Run);
        assert_eq!(command(&allow(&form), "eb eb(0x1000,0) 90"), Decision::Confirm);
        assert_eq!(command(&allow(&form), "r @rax = 1"), Decision::Confirm);
        let read = verdict("db 0x1000").form.unwrap();
        assert_eq!(command(&allow(&read), "db eb(0x1000,0)"), Decision::Confirm);
    }

    #[test]
    fn a_form_that_is_never_sent_is_sent_where_the_operator_says_so() {
        assert!(matches!(
            command(&Rules::default(), ".listen 50000"),
            Decision::Refuse { .. }
        ));
        assert_eq!(command(&allow("listen"), ".listen 50000"), Decision::Run);
    }

    #[test]
    fn what_takes_a_protection_away_is_said() {
        assert_eq!(Rules::default().warning(), None);
        let rules = Rules {
            confirm: Confirm::Never,
            unclassified: true,
            ..Rules::default()
        };
        let warning = rules.warning().unwrap();
        assert!(warning.contains("--confirm never") && warning.contains("--unclassified"));
        // Without the classification a text counts as the worst that its tool can do.
        let rules = Rules {
            unclassified: true,
            ..Rules::default()
        };
        assert_eq!(command(&rules, "lm"), Decision::Confirm);
    }

    #[test]
    fn permits_are_parsed_with_a_hint() {
        assert!(Permit::parse("destructiv").unwrap_err().contains("`destructive`"));
        assert!(
            Permit::parse("hd_mem_wirte")
                .unwrap_err()
                .contains("hd_mem_write")
        );
    }

    #[test]
    fn the_tools_that_take_texts_are_there() {
        let texts: Vec<&str> = surface::all()
            .filter(|tool| text_of(tool.spec.name).is_some())
            .map(|tool| tool.spec.name)
            .collect();
        assert_eq!(texts.len(), 3);
    }
}
