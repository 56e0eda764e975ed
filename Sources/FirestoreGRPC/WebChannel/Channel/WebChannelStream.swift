import Concurrency
import DocumentModel
import HearthAPI
import HearthHTTP
import Logging
import NIOCore
import SwiftProtobuf

/// Runs a ``StreamMethod`` on a channel.
struct WebChannelStream<Input: Message, Output: WebChannelResponse>: Sendable {
    let method: StreamMethod<Input, Output>
    let server: GRPCServer
    /// Counts a message after the first one, and returns the time after which to process it.
    let delay: @Sendable () -> Duration

    /// Runs the method until it ends, and then tells the client its status.
    ///
    /// - Parameter eventLoop: The event loop of the handshake, on which the responses of new commits are encoded.
    func run(on channel: WebChannel, in context: ServiceContext, eventLoop: any EventLoop) async {
        let inbox = StreamInbox<Input>()
        channel.setStream(inbox)
        var responses: any StreamWriter<Output> = WebChannelResponses<Output>(
            channel: channel,
            budget: server.responseBudget,
            eventLoop: eventLoop,
            streams: server.streams
        )
        do {
            try await server.streams.keepOpen(channel, for: context) {
                try await withThrowingTaskGroup { group in
                    group.addTask { await moveMessages(of: channel, to: inbox) }
                    try await method.execute(inbox, &responses, context)
                    group.cancelAll()
                }
            }
            channel.finish(with: WebChannelOutput.stop)
        } catch {
            channel.finish(with: status(of: error, in: inbox).webChannelArray)
        }
    }

    /// Returns the status of a stream that has ended with an error.
    private func status(of error: any Error, in inbox: StreamInbox<Input>) -> GRPCStatus {
        // Why it was ended, not how its method noticed.
        switch inbox.failure ?? error {
        case let status as GRPCStatus:
            return status
        case let error as StatusError:
            return GRPCStatus(error)
        case is CancellationError:
            return GRPCStatus(.unavailable, "The server has ended the stream.")
        default:
            return GRPCStatus(.unexpected(error, "Stream failed", logger: server.logger))
        }
    }

    /// Moves the messages of the client to the inbox of the stream, each once the one before has been taken.
    private func moveMessages(of channel: WebChannel, to inbox: StreamInbox<Input>) async {
        var isFirst = true
        while let message = await channel.nextMessage() {
            guard let json = message.json else { continue }
            if !isFirst { try? await inbox.wait(for: delay()) }
            isFirst = false
            do throws(StatusError) {
                inbox.add(try Input(webChannelJSON: json))
            } catch {
                inbox.fail(error)
            }
            await inbox.waitUntilEmpty()
            withExtendedLifetime(message) {}
        }
    }
}

/// Writes the messages of a stream to its channel.
private struct WebChannelResponses<Response: WebChannelResponse>: StreamWriter {
    let channel: WebChannel
    let budget: MemoryBudget
    let eventLoop: any EventLoop
    let streams: WatchStreamService

    func write(_ responses: ArraySlice<Response>) async throws {
        var contents: [[UInt8]] = []
        var byteCount = 0
        for response in responses {
            let content = try response.webChannelArray
            contents.append(content)
            byteCount += content.count
            guard byteCount >= WebChannelOutput.chunkBytes else { continue }
            try await channel.write(contents, within: budget)
            contents = []
            byteCount = 0
        }
        if !contents.isEmpty { try await channel.write(contents, within: budget) }
    }

    var live: (any LiveStreamWriter<Response>)? { self }
}

extension WebChannelResponses: LiveStreamWriter {
    static var encoding: String { "webchannel" }

    func encode(_ responses: [Response]) throws(StatusError) -> [[UInt8]] {
        var contents: [[UInt8]] = []
        for response in responses { contents.append(try response.webChannelArray) }
        return contents
    }

    func writeIfWritable(_ contents: [[UInt8]]) -> Bool {
        channel.writeIfWritable(contents, within: budget)
    }
}
