//! The protocol as it stands on the wire, over a fake machine: literal messages in, literal parts out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod fake;

use std::time::{Duration, Instant};

use fake::{Setup, Wire};
use hyperdbg_mcp::tool::surface::Selection;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use tokio::io::AsyncWriteExt;

const READ: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hd_mem_read","arguments":{"address":"0xfffff80000000000","size":4}}}"#;

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn every_handshake_version_is_served_as_asked() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut wire = Wire::start(Setup::default());
        wire.send(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ))
        .await;
        let answer = wire.receive().await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "hyperdbg-mcp");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(
            result["capabilities"],
            json!({"tools": {}, "resources": {"subscribe": true, "listChanged": true}})
        );
        wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        wire.send(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#)
            .await;
        let answer = wire.receive().await;
        assert_eq!(answer["id"], "list");
        assert!(names(&answer).contains(&"hd_mem_read"));
        // What only newer peers know stays out.
        for key in ["resultType", "ttlMs", "cacheScope", "nextCursor"] {
            assert!(answer["result"].get(key).is_none(), "{version}: {key}");
        }
        wire.send(READ).await;
        let answer = wire.receive().await;
        assert_eq!(
            answer["result"]["structuredContent"]["segments"][0]["bytes"],
            "4883ec28"
        );
        assert!(answer["result"].get("isError").is_none_or(|error| error == false));
        assert!(answer["result"].get("resultType").is_none());
    }
}

#[tokio::test]
async fn the_newest_version_needs_no_handshake() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let mut wire = Wire::start(Setup::default());
    wire.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#
    ))
    .await;
    let answer = wire.receive().await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-06-18")));
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "hyperdbg-mcp"
    );
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(3_600_000), &json!("private"))
    );
    wire.send(&format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{meta}}}}}"#
    ))
    .await;
    let answer = wire.receive().await;
    assert_eq!(
        (&answer["result"]["ttlMs"], &answer["result"]["cacheScope"]),
        (&json!(3_600_000), &json!("private"))
    );
    wire.send(&format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"hd_mem_read","arguments":{{"address":"0xfffff80000000000"}},{meta}}}}}"#
    ))
    .await;
    let answer = wire.receive().await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["structuredContent"]["read"], 128);
    // What a request must carry, and what it may ask for.
    wire.send(r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}"#)
        .await;
    assert_eq!(wire.receive().await["error"]["code"], -32602);
    wire.send(&format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{{{}}}}}"#,
        meta.replace("2026-07-28", "2031-01-01")
    ))
    .await;
    let answer = wire.receive().await;
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["requested"], "2031-01-01");
}

#[tokio::test]
async fn instructions_are_short_and_name_only_what_is_served() {
    for (selection, opens) in [
        (Selection::default(), None),
        (
            Selection {
                read_only: true,
                ..Selection::default()
            },
            Setup::default().opens,
        ),
        (Setup::default().selection, Setup::default().opens),
    ] {
        let mut wire = Wire::start(Setup {
            selection,
            opens,
            ..Setup::default()
        });
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = wire.request("initialize", params).await;
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.chars().count() <= 2_000);
        let list = wire.request("tools/list", json!({})).await;
        let served = names(&list);
        for word in instructions.split(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_')) {
            assert!(
                !word.starts_with("hd_") || served.contains(&word),
                "{word} is named and not served"
            );
        }
    }
}

#[tokio::test]
async fn unknown_tools_and_malformed_calls_are_told_apart() {
    let mut wire = Wire::ready().await;
    let answer = wire.request("tools/call", json!({"name": "hd_mem_raed"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean `hd_mem_read`?")
    );
    let answer = wire
        .request("tools/call", json!({"name": "hd_mem_read", "arguments": [1]}))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("JSON object")
    );
    let answer = wire.request("tools/call", json!({"arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("name"));
    let answer = wire.request("nothing/known", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    // An argument that does not fit is the agent's to correct: a result, not a protocol error.
    let answer = wire
        .request(
            "tools/call",
            json!({"name": "hd_mem_read", "arguments": {"adress": "0x1"}}),
        )
        .await;
    assert_eq!(answer["result"]["isError"], true);
    for method in ["prompts/list", "logging/setLevel", "completion/complete"] {
        let answer = wire.request(method, json!({"level": "info"})).await;
        assert!(answer["error"].is_object(), "{method} is not served: {answer}");
    }
}

#[tokio::test]
async fn lines_of_careless_clients_are_survived() {
    let mut wire = Wire::start(Setup::default());
    // Before the handshake: noise, a notification, a stray answer, bytes that are no UTF-8.
    wire.send("hello").await;
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    wire.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).await;
    wire.write.write_all(b"\xff\xfe\n\r\n\n").await.unwrap();
    wire.write.write_all(b"\xef\xbb\xbf").await.unwrap();
    wire.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\r").await;
    assert_eq!(wire.receive().await["id"], 1);
    wire.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r")
        .await;
    wire.send("not JSON").await;
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/of_another_world","params":1}"#)
        .await;
    wire.send(r#"{"id":77,"method":5}"#).await;
    let answer = wire.receive().await;
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &json!(77))
    );
    wire.send("[]").await;
    assert_eq!(wire.receive().await["error"]["code"], -32600);
    wire.send(&format!("{READ}\r")).await;
    assert_eq!(wire.receive().await["id"], 2);
}

#[tokio::test]
async fn a_message_in_pieces_is_one_message() {
    let mut wire = Wire::ready().await;
    for piece in READ.as_bytes().chunks(7) {
        wire.write.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    wire.send("").await;
    assert_eq!(wire.receive().await["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_while_a_call_goes_on_and_never_after_a_cancel() {
    let mut wire = Wire::ready().await;
    wire.call("hd_mem_read", json!({"address": "0xfffff80000000000"}))
        .await;
    wire.fake.hangs.store(true, Ordering::SeqCst);
    wire.send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hd_reg_read","arguments":{"register":"rip"},"_meta":{"progressToken":"p"}}}"#).await;
    let started = tokio::time::Instant::now();
    let mut last = 0.0;
    for _ in 0..3 {
        let progress = wire.receive().await;
        assert_eq!(
            (&progress["method"], &progress["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        assert!(progress["params"].get("total").is_none(), "no made-up totals");
        assert!(
            progress["params"]["message"]
                .as_str()
                .unwrap()
                .contains("hd_reg_read")
        );
        let now = progress["params"]["progress"].as_f64().unwrap();
        assert!(now > last);
        last = now;
    }
    assert!(
        started.elapsed() <= Duration::from_secs(30),
        "every ten seconds at least"
    );
    wire.send(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"enough"}}"#,
    )
    .await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(wire.is_silent(Duration::from_secs(60)).await);
    assert_eq!(wire.fake.dropped.load(Ordering::SeqCst), 1);
    wire.fake.hangs.store(false, Ordering::SeqCst);
    wire.send(READ).await;
    assert_eq!(wire.receive().await["id"], 2);
}

#[tokio::test]
async fn at_the_end_of_input_ready_answers_leave_and_calls_in_flight_are_given_up() {
    let mut wire = Wire::ready().await;
    wire.call("hd_mem_read", json!({"address": "0xfffff80000000000"}))
        .await;
    wire.send(READ).await;
    // A last line without its newline counts.
    wire.write
        .write_all(READ.replace(r#""id":2"#, r#""id":3"#).as_bytes())
        .await
        .unwrap();
    wire.write.shutdown().await.unwrap();
    let mut ids = [
        wire.receive().await["id"].as_u64(),
        wire.receive().await["id"].as_u64(),
    ];
    ids.sort_unstable();
    assert_eq!(ids, [Some(2), Some(3)]);
    wire.server.await.unwrap().unwrap();

    let mut wire = Wire::ready().await;
    wire.call("hd_mem_read", json!({"address": "0xfffff80000000000"}))
        .await;
    wire.fake.hangs.store(true, Ordering::SeqCst);
    wire.send(READ).await;
    let started = Instant::now();
    wire.write.shutdown().await.unwrap();
    wire.server.await.unwrap().unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(wire.fake.dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_client_that_leaves_before_the_handshake_is_no_failure() {
    let mut wire = Wire::start(Setup::default());
    wire.write.shutdown().await.unwrap();
    wire.server.await.unwrap().unwrap();
}
