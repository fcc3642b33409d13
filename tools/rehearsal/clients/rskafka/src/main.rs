//! rskafka: `rskafka-client BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS` sends COUNT records and waits for each, reads them back by partition (it has
//! no groups), and prints what came of it as a line of JSON.
use rskafka::client::{partition::{Compression, UnknownTopicHandling}, ClientBuilder};
use rskafka::record::Record;
use std::time::Duration;

async fn work(args: &[String], produced: &mut usize, consumed: &mut usize) -> Result<(), Box<dyn std::error::Error>> {
    let client = ClientBuilder::new(vec![args[1].clone()]).client_id(args[2].as_str()).build().await?;
    let partition = client.partition_client(args[3].as_str(), 0, UnknownTopicHandling::Retry).await?;
    let count: usize = args[5].parse()?;
    for number in 0..count {
        let value = Some(format!("record {number}").into_bytes());
        let record = Record { key: None, value, headers: Default::default(), timestamp: chrono::Utc::now() };
        partition.produce(vec![record], Compression::NoCompression).await?;
        *produced += 1;
    }
    let mut next = 0;
    while *consumed < count {
        let (records, _) = partition.fetch_records(next, 1..1_000_000, 1000).await?;
        *consumed += records.len();
        next = records.last().map_or(next, |last| last.offset + 1);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let limit = Duration::from_secs(args[6].parse().unwrap());
    let (mut produced, mut consumed) = (0, 0);
    let error = match tokio::time::timeout(limit, work(&args, &mut produced, &mut consumed)).await {
        Ok(Ok(())) => "",
        Ok(Err(_)) => "Error",
        Err(_) => "ran to its time limit",
    };
    println!("{{\"produced\": {produced}, \"consumed\": {consumed}, \"error\": \"{error}\"}}");
}
