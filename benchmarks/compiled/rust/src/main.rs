//! Rust's kafka-protocol as a contender: decodes the messages of a file, again and again, a round for each line on standard input.
//!
//! Usage: kafka-decoding WORK FILE REPEATS; what goes in and out is in README.md of the folder above.

use bytes::Bytes;
use kafka_protocol::messages::{ApiKey, FetchRequest, FetchResponse, MetadataResponse, ProduceRequest, RequestHeader, RequestKind};
use kafka_protocol::protocol::Decodable;
use std::hint::black_box;
use std::io::stdin;
use std::time::{Duration, Instant};

const TIME_TO_WARM: Duration = Duration::from_secs(1);

fn split(mut all: Bytes) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while !all.is_empty() {
        let size = u32::from_be_bytes(all[..4].try_into().unwrap()) as usize;
        messages.push(all.slice(4..4 + size));
        all = all.slice(4 + size..);
    }
    messages
}

fn fetch_response(mut message: Bytes) -> i64 {
    let data = black_box(FetchResponse::decode(&mut message, 12).unwrap());
    data.responses.iter().map(|topic| topic.partitions.len() as i64).sum()
}

fn fetch_request(mut message: Bytes) -> i64 {
    let data = black_box(FetchRequest::decode(&mut message, 12).unwrap());
    data.topics.iter().map(|topic| topic.partitions.len() as i64).sum()
}

fn metadata(mut message: Bytes) -> i64 {
    let data = black_box(MetadataResponse::decode(&mut message, 12).unwrap());
    data.topics.iter().map(|topic| topic.partitions.len() as i64).sum()
}

fn produce(mut message: Bytes) -> i64 {
    let data = black_box(ProduceRequest::decode(&mut message, 9).unwrap());
    data.topic_data.iter().map(|topic| topic.partition_data.len() as i64).sum()
}

fn header(mut message: Bytes) -> i64 {
    black_box(RequestHeader::decode(&mut message, 2).unwrap()).correlation_id as i64
}

fn request(mut message: Bytes) -> i64 {
    let key = ApiKey::try_from(i16::from_be_bytes([message[0], message[1]])).unwrap();
    let version = i16::from_be_bytes([message[2], message[3]]);
    let header = black_box(RequestHeader::decode(&mut message, key.request_header_version(version)).unwrap());
    black_box(RequestKind::decode(key, &mut message, version).unwrap());
    header.correlation_id as i64
}

fn run(decode: fn(Bytes) -> i64, messages: &[Bytes]) -> i64 {
    messages.iter().map(|message| decode(message.clone())).sum()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let decode = match arguments[1].as_str() {
        "fetch-response" => fetch_response,
        "fetch-request" => fetch_request,
        "metadata" => metadata,
        "produce" => produce,
        "requests" => request,
        "headers" => header,
        other => panic!("no such work: {other}"),
    };
    let messages = split(Bytes::from(std::fs::read(&arguments[2]).unwrap()));
    let repeats: usize = arguments[3].parse().unwrap();
    let first = run(decode, &messages);
    let start = Instant::now();
    while start.elapsed() < TIME_TO_WARM {
        black_box(run(decode, &messages));
    }
    println!("ready {first}");
    for _ in stdin().lines() {
        let start = Instant::now();
        for _ in 0..repeats {
            black_box(run(decode, &messages));
        }
        let (took, count) = (start.elapsed(), messages.len() * repeats);
        println!("{count} {}", took.as_nanos() as f64 / count as f64);
    }
}
