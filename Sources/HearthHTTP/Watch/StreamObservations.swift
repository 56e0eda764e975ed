import HearthAPI
import NIOCore

/// The observations of what ends a watch stream from outside: the client disconnects, does not read, or loses access. They end with
/// the value.
struct StreamObservations {
    private let revocations: [RevocationObservation?]

    /// The time that a client has to read pending frames after its key was revoked.
    private static let revocationGrace = TimeAmount.seconds(2)

    /// - Parameter openStreams: The streams that have not ended, the observed one among them.
    init(
        of stream: any OpenStream,
        on channel: any Channel,
        by caller: Caller,
        with keys: APIKeyRegistry,
        _ browserSession: Session?,
        of sessions: SessionRegistry,
        among openStreams: OpenStreamRegistry
    ) {
        // Fires when the client disconnects, even while there is nothing to write.
        channel.closeFuture.whenComplete { _ in stream.end(nil) }
        channel.triggerUserOutboundEvent(StreamStallObservation { stream.end(.slow) }, promise: nil)
        let revoke: @Sendable () -> Void = { [reason = caller.endOfAccess] in
            stream.end(reason)
            Self.closeUnlessRead(channel, of: stream, in: openStreams)
        }
        revocations = [
            keys.onRevocation(of: caller, revoke), browserSession.map { sessions.onRevocation(of: $0, revoke) },
        ]
    }

    /// Closes the connection of a revoked stream whose client does not read pending frames.
    private static func closeUnlessRead(_ channel: any Channel, of stream: any OpenStream, in openStreams: OpenStreamRegistry) {
        channel.eventLoop.scheduleTask(in: revocationGrace) {
            // The end of a stream has been written, although its bytes may still wait for the event loop.
            guard openStreams.contains(stream) else { return }
            guard channel.isWritable else { return channel.close(promise: nil) }
            // The client reads, but the stream has not had its turn on a busy machine.
            closeUnlessRead(channel, of: stream, in: openStreams)
        }
    }
}
