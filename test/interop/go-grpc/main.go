// Program main is both halves of the official Go SDK over gRPC. `serve` serves an agent and prints its port. `call` calls
// the agent at an address, and prints each outcome.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type executor struct{}

func textOf(parts a2a.ContentParts) string {
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		texts = append(texts, part.Text())
	}
	return strings.Join(texts, "\n")
}

func (executor) Execute(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		question := textOf(call.Message.Parts)
		if !strings.HasPrefix(question, "task ") {
			reply := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("Echo: "+question))
			reply.ContextID = call.ContextID
			yield(reply, nil)
			return
		}
		_ = yield(a2a.NewSubmittedTask(call, call.Message), nil) &&
			yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateWorking, nil), nil) &&
			yield(a2a.NewArtifactEvent(call, a2a.NewTextPart(strings.TrimPrefix(question, "task "))), nil) &&
			yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil), nil)
	}
}

func (executor) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCanceled, nil), nil)
	}
}

func serve() {
	// The test holds the other end of stdin: the server ends with the test.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	handler := a2asrv.NewHandler(executor{}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	a2agrpc.NewHandler(handler).RegisterWith(server)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}

func call(address string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	endpoint := a2a.NewAgentInterface(address, a2a.TransportProtocolGRPC)
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	client, err := a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{endpoint}, a2agrpc.WithGRPCTransport(plain))
	if err != nil {
		log.Fatal(err)
	}
	message := func() *a2a.SendMessageRequest {
		return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("task-lifecycle"))}
	}
	answer, err := client.SendMessage(ctx, message())
	if err != nil {
		log.Fatal(err)
	}
	task, isTask := answer.(*a2a.Task)
	if !isTask {
		log.Fatal("the answer is no task")
	}
	fmt.Println("send:", task.Status.State)
	count := 0
	for _, err := range client.SendStreamingMessage(ctx, message()) {
		if err != nil {
			log.Fatal(err)
		}
		count++
	}
	fmt.Println("stream:", count, "events")
	read, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("get:", read.Status.State)
	page, err := client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: task.ContextID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("list:", len(page.Tasks))
	_, err = client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
	fmt.Println("cancel is refused:", errors.Is(err, a2a.ErrTaskNotCancelable))
	_, err = client.GetTask(ctx, &a2a.GetTaskRequest{ID: "00000000-0000-0000-0000-000000000000"})
	fmt.Println("get is refused:", errors.Is(err, a2a.ErrTaskNotFound))
	for _, err := range client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "00000000-0000-0000-0000-000000000000"}) {
		fmt.Println("subscribe is refused:", errors.Is(err, a2a.ErrTaskNotFound))
	}
}

func main() {
	if os.Args[1] == "serve" {
		serve()
	}
	call(os.Args[2])
}
