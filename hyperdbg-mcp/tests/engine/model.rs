//! Run control against a model: random sequences on the simulator, after each of which the session says what the model
//! says. No stop is lost or told twice, and no worker is left.

use std::sync::Arc;
use std::time::Duration;

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::generated::{
    Call, ConnectRemoteDebuggerUsingNamedPipeArgs, ContinueDebuggeeArgs, ReadTargetRegisterArgs,
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
const SEQUENCES: usize = 12;
const VARIABLE: &str = "HYPERDBG_MCP_MODEL_SEQUENCES";
const LENGTH: usize = 24;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    // Console events do not arrive under wine.
    if cfg!(unix) {
        trials.push(trial("random_run_control_agrees_with_its_model", agree));
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
    /// Stopped, and nobody has been told.
    Untold,
    Dead,
    /// The worker is gone, and the last stop before that has not been told.
    DeadUntold,
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

async fn agree() {
    let sequences = std::env::var(VARIABLE)
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(SEQUENCES);
    let mut runner = TestRunner::deterministic();
    for _ in 0..sequences {
        let sequence = steps().new_tree(&mut runner).unwrap().current();
        let mut session = open_connected().await;
        let mut model = Model::Halted;
        for (at, step) in sequence.iter().enumerate() {
            let place = format!("step {at} of {sequence:?}, {model:?}");
            (session, model) = take(session, model, *step, &place).await;
            says_the_same(&session, model, &place);
        }
        session.close().await;
        assert!(!session.status().alive, "{sequence:?}");
    }
}

fn says_the_same(session: &Session, model: Model, place: &str) {
    let status = session.status();
    let (state, unread, alive) = match model {
        Model::Halted => (RunState::Paused, false, true),
        Model::Running => (RunState::Running, false, true),
        Model::Untold => (RunState::Paused, true, true),
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

async fn take(session: Arc<Session>, model: Model, step: Move, place: &str) -> (Arc<Session>, Model) {
    let model = match step {
        Move::Continue => {
            let result = session
                .resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {}), LONG)
                .await;
            match (model, result) {
                (Model::Halted, Ok(_)) => Model::Running,
                (Model::Running, Err(error)) if error.category == Category::TargetRunning => model,
                (Model::Untold, Err(error)) if error.category == Category::Busy => model,
                (Model::Dead | Model::DeadUntold, Err(error)) if error.category == Category::WorkerLost => {
                    model
                }
                (_, result) => panic!("{place}: {result:?}"),
            }
        }
        Move::Wait | Move::WaitAndLeave => {
            let result = session.wait_stop(Duration::from_millis(5)).await;
            match (model, result) {
                (Model::Untold | Model::DeadUntold, Ok(StopWait::Stopped(delivery))) => {
                    if step == Move::WaitAndLeave {
                        drop(delivery);
                        model
                    } else {
                        assert!(delivery.requested() && delivery.tell().is_some(), "{place}");
                        match model {
                            Model::Untold => Model::Halted,
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
                Model::Untold
            } else {
                model
            }
        }
        Move::StepIn | Move::Read => {
            let call = if step == Move::Read {
                Call::ReadTargetRegister(ReadTargetRegisterArgs {
                    register: REGS_ENUM::REGISTER_RIP,
                })
            } else {
                Call::SteppingInstrumentationStepIn(SteppingInstrumentationStepInArgs {})
            };
            let result = session.call(call, LONG).await;
            match (model, &result) {
                (Model::Halted | Model::Untold, Ok(_)) => {}
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
                Model::Untold | Model::DeadUntold => Model::DeadUntold,
                _ => Model::Dead,
            }
        }
        Move::Reopen => {
            session.close().await;
            assert!(!session.status().alive, "{place}");
            return (open_connected().await, Model::Halted);
        }
    };
    (session, model)
}
