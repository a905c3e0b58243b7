//! Run control against a model: random sequences on the simulator, after each of which the session says what the model
//! says. No stop is lost or told twice, and no worker is left.

use std::sync::Arc;
use std::time::Duration;

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::generated::{
    Call, ConnectRemoteDebuggerUsingNamedPipeArgs, ContinueDebuggeeArgs, ReadTargetRegisterArgs, Reply,
    SteppingInstrumentationStepInArgs,
};
use hyperdbg_mcp::session::{Mode, Observed, RunState, Session, StopWait};
use hyperdbg_mcp::tool::Category;
use hyperdbg_sys::REGS_ENUM;
use libtest_mimic::Trial;
use proptest::collection::vec;
use proptest::prop_oneof;
use proptest::strategy::{Just, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::simulator::simulated;
use crate::world::*;

/// Sequences, and the variable that asks for another number.
const SEQUENCES: usize = 160;
/// Sequences at once: they wait more than they work.
const AT_ONCE: usize = 8;
const VARIABLE: &str = "HYPERDBG_MCP_MODEL_SEQUENCES";
const LENGTH: usize = 24;
/// More than one of them takes, all others at once included.
const EACH: Duration = Duration::from_secs(2);

pub(crate) fn add(trials: &mut Vec<Trial>) {
    // Console events do not arrive under wine.
    if cfg!(unix) {
        let bound = EACH * u32::try_from(sequences()).unwrap_or(u32::MAX);
        trials.push(trial_within(
            "random_run_control_agrees_with_its_model",
            bound,
            agree,
        ));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Continue,
    /// Waits briefly.
    Wait,
    /// Waits and goes away without telling.
    WaitAndLeave,
    Break,
    StepIn,
    Read,
    /// Sets a breakpoint where the target comes by all the time, or removes it.
    Breakpoint,
    Kill,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Move>> {
    vec(
        prop_oneof![
            6 => Just(Move::Continue),
            4 => Just(Move::Wait),
            2 => Just(Move::WaitAndLeave),
            5 => Just(Move::Break),
            3 => Just(Move::StepIn),
            3 => Just(Move::Read),
            3 => Just(Move::Breakpoint),
            1 => Just(Move::Kill),
            1 => Just(Move::Reopen),
        ],
        1..=LENGTH,
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    Halted,
    Running,
    /// Stopped, and nobody has been told: because that was asked for, or at the breakpoint.
    Untold {
        asked: bool,
    },
    Dead,
    /// The worker is gone, and the last stop before that has not been told.
    DeadUntold,
}

/// A session, and what the test knows of it.
struct World {
    session: Arc<Session>,
    model: Model,
    /// Where the target comes by.
    place: u64,
    /// Breakpoints set so far; their numbers count up.
    breakpoints: u64,
    is_set: bool,
}

async fn open_world() -> World {
    let session = open_connected().await;
    let outcome = session.call(rip(), LONG).await.unwrap();
    let Reply::ReadTargetRegister(reply) = outcome.reply else {
        panic!("{outcome:?}");
    };
    World {
        session,
        model: Model::Halted,
        place: reply.value,
        breakpoints: 0,
        is_set: false,
    }
}

fn rip() -> Call {
    Call::ReadTargetRegister(ReadTargetRegisterArgs {
        register: REGS_ENUM::REGISTER_RIP,
    })
}

async fn open_connected() -> Arc<Session> {
    let session = Session::open(simulated(LibrarySource::Embedded)).await.unwrap();
    let pipe = ConnectRemoteDebuggerUsingNamedPipeArgs {
        pipe: br"\\.\pipe\HyperDbgPipe".to_vec(),
        pause: true,
    };
    session
        .call(Call::ConnectRemoteDebuggerUsingNamedPipe(pipe), LONG)
        .await
        .unwrap();
    session.set_mode(Some(Mode::Debugger));
    session.observe(Observed {
        state: RunState::Paused,
        by: "the connection",
    });
    session
}

fn sequences() -> usize {
    std::env::var(VARIABLE)
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(SEQUENCES)
}

async fn agree() {
    let sequences = sequences();
    let mut runner = TestRunner::deterministic();
    let mut sequences: Vec<Vec<Move>> = (0..sequences)
        .map(|_| steps().new_tree(&mut runner).unwrap().current())
        .collect();
    while !sequences.is_empty() {
        let rest = sequences.split_off(sequences.len().min(AT_ONCE));
        let tasks: Vec<_> = sequences
            .into_iter()
            .map(|sequence| tokio::spawn(walk(sequence)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        sequences = rest;
    }
}

async fn walk(sequence: Vec<Move>) {
    let mut world = open_world().await;
    for (at, step) in sequence.iter().enumerate() {
        let place = format!("step {at} of {sequence:?}, {:?}", world.model);
        take(&mut world, *step, &place).await;
        says_the_same(&world.session, world.model, &place);
    }
    world.session.close().await;
    assert!(!world.session.status().alive, "{sequence:?}");
}

fn says_the_same(session: &Session, model: Model, place: &str) {
    let status = session.status();
    let (state, unread, alive) = match model {
        Model::Halted => (RunState::Paused, false, true),
        Model::Running => (RunState::Running, false, true),
        Model::Untold { .. } => (RunState::Paused, true, true),
        // A run that the end of the worker cut off waits to be told as an error.
        Model::Dead => (RunState::Unknown, status.unread_stop, false),
        Model::DeadUntold => (RunState::Unknown, true, false),
    };
    assert_eq!(
        (status.run_state.state, status.unread_stop, status.alive),
        (state, unread, alive),
        "{place}"
    );
}

async fn take(world: &mut World, step: Move, place: &str) {
    let session = Arc::clone(&world.session);
    let model = world.model;
    world.model = match step {
        Move::Continue => {
            let result = session
                .resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {}), LONG)
                .await;
            match (model, result) {
                (Model::Halted, Ok(_)) if world.is_set => {
                    eventually("the breakpoint is hit", || session.status().unread_stop).await;
                    Model::Untold { asked: false }
                }
                (Model::Halted, Ok(_)) => Model::Running,
                (Model::Running, Err(error)) if error.category == Category::TargetRunning => model,
                (Model::Untold { .. }, Err(error)) if error.category == Category::Busy => model,
                (Model::Dead | Model::DeadUntold, Err(error)) if error.category == Category::WorkerLost => {
                    model
                }
                (_, result) => panic!("{place}: {result:?}"),
            }
        }
        Move::Wait | Move::WaitAndLeave => {
            let result = session.wait_stop(Duration::from_millis(5)).await;
            match (model, result) {
                (Model::Untold { .. } | Model::DeadUntold, Ok(StopWait::Stopped(delivery))) => {
                    if step == Move::WaitAndLeave {
                        drop(delivery);
                        model
                    } else {
                        let was_asked = delivery.requested();
                        assert!(delivery.tell().is_some(), "{place}");
                        match model {
                            Model::Untold { asked } => {
                                assert_eq!(was_asked, asked, "{place}");
                                Model::Halted
                            }
                            _ => Model::Dead,
                        }
                    }
                }
                (Model::Running, Ok(StopWait::StillRunning { .. }))
                | (Model::Halted, Ok(StopWait::NotResumed)) => model,
                (Model::Dead, Err(error)) if error.category == Category::WorkerLost => model,
                (_, result) => panic!("{place}: {result:?}"),
            }
        }
        Move::Break => {
            let _ = session.interrupt();
            if model == Model::Running {
                // A break that comes before the library has let the target run is ignored by it.
                eventually("the target stops", || {
                    let _ = session.interrupt();
                    session.status().unread_stop
                })
                .await;
                Model::Untold { asked: true }
            } else {
                model
            }
        }
        Move::StepIn | Move::Read | Move::Breakpoint => {
            let call = match step {
                Move::Read => rip(),
                Move::Breakpoint if world.is_set => command(&format!("bc {:x}", world.breakpoints)),
                Move::Breakpoint => command(&format!("bp {:x}", world.place)),
                _ => Call::SteppingInstrumentationStepIn(SteppingInstrumentationStepInArgs {}),
            };
            let result = session.call(call, LONG).await;
            match (model, &result) {
                (Model::Halted | Model::Untold { .. }, Ok(outcome)) => {
                    if step == Move::Breakpoint {
                        assert!(outcome.text.is_empty(), "{place}: {outcome:?}");
                        world.breakpoints += u64::from(!world.is_set);
                        world.is_set = !world.is_set;
                    }
                }
                (Model::Running, Err(error)) => {
                    assert_eq!(error.category, Category::TargetRunning, "{place}");
                }
                (Model::Dead | Model::DeadUntold, Err(error)) => {
                    assert_eq!(error.category, Category::WorkerLost, "{place}");
                }
                _ => panic!("{place}: {result:?}"),
            }
            model
        }
        Move::Kill => {
            session.kill();
            eventually("the worker is gone", || !session.status().alive).await;
            match model {
                Model::Untold { .. } | Model::DeadUntold => Model::DeadUntold,
                _ => Model::Dead,
            }
        }
        Move::Reopen => {
            session.close().await;
            assert!(!session.status().alive, "{place}");
            *world = open_world().await;
            return;
        }
    };
}
