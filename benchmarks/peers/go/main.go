// The official Go SDK under the workloads of the benchmark: its JSON-RPC handler on net/http, its store in memory.
// Arguments: the kind of answer, the number of chunks of a stream, a file of stored tasks or "". Prints its port.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

type executor struct {
	kind   string
	chunks int
}

func textOf(message *a2a.Message) string {
	texts := make([]string, 0, len(message.Parts))
	for _, part := range message.Parts {
		texts = append(texts, part.Text())
	}
	return strings.Join(texts, "\n")
}

func (e executor) Execute(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		question := textOf(call.Message)
		if e.kind == "call" {
			reply := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(question))
			reply.ContextID = call.ContextID
			yield(reply, nil)
			return
		}
		if !yield(a2a.NewSubmittedTask(call, call.Message), nil) ||
			!yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateWorking, nil), nil) {
			return
		}
		if e.kind != "stream" {
			event := a2a.NewArtifactEvent(call, a2a.NewTextPart(question))
			event.Artifact.Name = "response"
			if !yield(event, nil) {
				return
			}
		} else {
			id := a2a.NewArtifactID()
			for index := range e.chunks {
				// Each chunk comes in a turn of its own, like the tokens of a model.
				runtime.Gosched()
				text := fmt.Sprintf("This is chunk %d of an answer. ", index)
				event := a2a.NewArtifactUpdateEvent(call, id, a2a.NewTextPart(text))
				event.Append = index > 0
				event.Artifact.Name = "response"
				if !yield(event, nil) {
					return
				}
			}
		}
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil), nil)
	}
}

func (executor) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

// One task as JSON on each line.
func storeTasks(store *taskstore.InMemory, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		task := new(a2a.Task)
		if err := json.Unmarshal(lines.Bytes(), task); err != nil {
			return err
		}
		if _, err := store.Create(context.Background(), task); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	chunks, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "anonymous", nil },
	})
	if os.Args[3] != "" {
		if err := storeTasks(store, os.Args[3]); err != nil {
			log.Fatal(err)
		}
	}
	handler := a2asrv.NewHandler(executor{os.Args[1], chunks}, a2asrv.WithTaskStore(store),
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	// stdin is a pipe of the benchmark: its end stops this server.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, a2asrv.NewJSONRPCHandler(handler)))
}
