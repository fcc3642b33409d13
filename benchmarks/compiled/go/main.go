// Go's kmsg as a contender: decodes the messages of a file, again and again, a round for each line on standard input.
//
// Usage: kafka-decoding WORK FILE REPEATS; what goes in and out is in README.md of the folder above.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const timeToWarm = time.Second

// What was decoded goes here, so that the compiler cannot leave it out.
var seen int64

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func split(all []byte) [][]byte {
	var messages [][]byte
	for len(all) > 0 {
		size := binary.BigEndian.Uint32(all)
		messages = append(messages, all[4:4+size])
		all = all[4+size:]
	}
	return messages
}

func fetchResponse(message []byte) int64 {
	data := kmsg.NewPtrFetchResponse()
	data.SetVersion(12)
	check(data.ReadFrom(message))
	partitions := 0
	for i := range data.Topics {
		partitions += len(data.Topics[i].Partitions)
	}
	return int64(partitions)
}

func fetchRequest(message []byte) int64 {
	data := kmsg.NewPtrFetchRequest()
	data.SetVersion(12)
	check(data.ReadFrom(message))
	partitions := 0
	for i := range data.Topics {
		partitions += len(data.Topics[i].Partitions)
	}
	return int64(partitions)
}

func metadata(message []byte) int64 {
	data := kmsg.NewPtrMetadataResponse()
	data.SetVersion(12)
	check(data.ReadFrom(message))
	partitions := 0
	for i := range data.Topics {
		partitions += len(data.Topics[i].Partitions)
	}
	return int64(partitions)
}

func produce(message []byte) int64 {
	data := kmsg.NewPtrProduceRequest()
	data.SetVersion(9)
	check(data.ReadFrom(message))
	partitions := 0
	for i := range data.Topics {
		partitions += len(data.Topics[i].Partitions)
	}
	return int64(partitions)
}

// kmsg has no request header to read; this is the one that kgo and kfake read with kbin.
type header struct {
	key, version  int16
	correlationID int32
	clientID      *string
}

var lastHeader *header

func readHeader(reader *kbin.Reader) *header {
	return &header{reader.Int16(), reader.Int16(), reader.Int32(), reader.NullableString()}
}

func onlyHeader(message []byte) int64 {
	reader := kbin.Reader{Src: message}
	lastHeader = readHeader(&reader)
	kmsg.SkipTags(&reader)
	if !reader.Ok() {
		check(kbin.ErrNotEnoughData)
	}
	return int64(lastHeader.correlationID)
}

func request(message []byte) int64 {
	reader := kbin.Reader{Src: message}
	lastHeader = readHeader(&reader)
	body := kmsg.RequestForKey(lastHeader.key)
	body.SetVersion(lastHeader.version)
	if body.IsFlexible() {
		kmsg.SkipTags(&reader)
	}
	check(body.ReadFrom(reader.Src))
	return int64(lastHeader.correlationID)
}

var works = map[string]func([]byte) int64{
	"fetch-response": fetchResponse, "fetch-request": fetchRequest, "metadata": metadata,
	"produce": produce, "requests": request, "headers": onlyHeader,
}

func main() {
	decode := works[os.Args[1]]
	if decode == nil {
		check(fmt.Errorf("no such work: %s", os.Args[1]))
	}
	all, err := os.ReadFile(os.Args[2])
	check(err)
	repeats, err := strconv.Atoi(os.Args[3])
	check(err)
	messages := split(all)
	run := func() {
		for _, message := range messages {
			seen += decode(message)
		}
	}
	run()
	first := seen
	for start := time.Now(); time.Since(start) < timeToWarm; {
		run()
	}
	fmt.Println("ready", first)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		start := time.Now()
		for range repeats {
			run()
		}
		took, count := time.Since(start), len(messages)*repeats
		fmt.Println(count, float64(took.Nanoseconds())/float64(count))
	}
}
