//! The MCP server: tools over rmcp, on stdio.

mod admission;
mod confirmation;
mod gate;
mod handler;
mod instructions;
mod lock;
pub mod operator;
mod registry;
mod remains;
mod resources;
mod sessions;
mod target;
mod transport;
mod watchdog;
mod watched;

pub use gate::{Gate, Policy};
pub use handler::Handler;
pub use registry::{Registry, Served};
pub use remains::Remains;
pub use sessions::{Launcher, Manager, View};
pub use transport::Lines;
pub use watchdog::Ending;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

/// How often it is noted what the sessions have set, beside the end of each call.
const NOTE: Duration = Duration::from_millis(250);

/// Serves one client over `read` and `write` until its end of input, then ends what is still running.
pub async fn serve<R, W>(handler: Handler, read: R, write: W) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let ending = handler.ending();
    let manager = Arc::clone(handler.manager());
    let audit = Arc::clone(handler.audit());
    let noting = tokio::spawn({
        let manager = Arc::clone(&manager);
        async move {
            loop {
                tokio::time::sleep(NOTE).await;
                manager.note();
            }
        }
    });
    let transport = Lines::new(read, write, ending.clone());
    let served = match handler.serve(transport).await {
        Ok(service) => service
            .waiting()
            .await
            .map(|_| ())
            .map_err(|error| error.to_string()),
        // A client that leaves before it has said anything is no failure.
        Err(_) if ending.is_over() => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    noting.abort();
    manager.end().await;
    audit.close();
    served
}
