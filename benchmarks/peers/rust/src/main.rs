//! The Rust SDK of the community under the workloads of the benchmark: its JSON-RPC dispatcher on hyper, in one thread
//! of tokio, its store in memory. Arguments: the kind of answer, the number of chunks of a stream, a file of stored
//! tasks or "". Prints its port.
use std::error::Error;
use std::io::{self, BufRead, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::{env, fs, process, thread};

use a2a_protocol_sdk::prelude::*;
use a2a_protocol_sdk::server::store::{InMemoryTaskStore, TaskStore, TaskStoreConfig};
use a2a_protocol_sdk::server::{ServeConfig, Server};

struct Agent {
    kind: String,
    chunks: usize,
}

impl AgentExecutor for Agent {
    fn execute<'a>(
        &'a self,
        ctx: &'a RequestContext,
        queue: &'a dyn EventQueueWriter,
    ) -> Pin<Box<dyn Future<Output = A2aResult<()>> + Send + 'a>> {
        boxed_future(self.answer(ctx, queue))
    }
}

impl Agent {
    async fn answer(&self, ctx: &RequestContext, queue: &dyn EventQueueWriter) -> A2aResult<()> {
        let question = ctx.message.texts().collect::<Vec<_>>().join("\n");
        if self.kind == "call" {
            let id = format!("{}-answer", ctx.message.id.0);
            let reply = Message::agent_text(id, question).with_context_id(ctx.context_id.as_str());
            return queue.write(StreamResponse::Message(reply)).await;
        }
        let emit = EventEmitter::new(ctx, queue);
        emit.status(TaskState::Working).await?;
        if self.kind == "stream" {
            for index in 0..self.chunks {
                // Each chunk comes in a turn of its own, like the tokens of a model.
                tokio::task::yield_now().await;
                let part = Part::text(format!("This is chunk {index} of an answer. "));
                emit.artifact("response", vec![part], Some(index > 0), None).await?;
            }
        } else {
            emit.artifact("response", vec![Part::text(question)], None, None).await?;
        }
        emit.status(TaskState::Completed).await
    }
}

/// One task as JSON on each line.
async fn store_tasks(store: &InMemoryTaskStore, path: &str) -> Result<(), Box<dyn Error>> {
    for line in io::BufReader::new(fs::File::open(path)?).lines() {
        let task: Task = serde_json::from_str(&line?)?;
        store.save(&task).await?;
    }
    Ok(())
}

async fn serve(kind: String, chunks: usize, stored: &str) -> Result<(), Box<dyn Error>> {
    // Its default forgets tasks beyond 10,000; those of the other servers do not.
    let mut config = TaskStoreConfig::default();
    config.max_capacity = None;
    let store = InMemoryTaskStore::with_config(config);
    if !stored.is_empty() {
        store_tasks(&store, stored).await?;
    }
    let card = AgentCard::new("Peer", "1.0.0", AgentInterface::jsonrpc("http://127.0.0.1/"))
        .with_description("The peer of the benchmark")
        .with_capabilities(AgentCapabilities::none().with_streaming(true))
        .with_skill(AgentSkill::new("echo", "Echo", "Repeats the question").with_tags(["echo"]));
    let handler = RequestHandlerBuilder::new(Agent { kind, chunks })
        .with_task_store(store)
        .with_agent_card(card)
        .build()?;
    let server = Server::bind("127.0.0.1:0").await?.with_config(ServeConfig::default());
    println!("{}", server.local_addr()?.port());
    server
        .serve_with_shutdown(JsonRpcDispatcher::new(Arc::new(handler)), std::future::pending())
        .await;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, kind, chunks, stored] = arguments.as_slice() else {
        return Err("expected three arguments".into());
    };
    // The benchmark holds the other end of stdin: it ends with the benchmark.
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(kind.clone(), chunks.parse()?, stored))
}
