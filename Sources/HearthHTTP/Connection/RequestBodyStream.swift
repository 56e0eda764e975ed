import Hummingbird
import NIOCore

/// The body of a request that arrives in several reads, with backpressure.
struct RequestBodyStream {
    typealias Parts = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Delegate
    >

    private let source: Parts.Source

    /// Creates a stream and the body that reads from it.
    ///
    /// - Parameter onDemand: Called on any thread when the reader has consumed most of what was received, and when it ends.
    static func makeStream(onDemand: @escaping @Sendable (Demand) -> Void) -> (stream: RequestBodyStream, body: RequestBody) {
        let parts = Parts.makeSequence(
            backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4),
            finishOnDeinit: false,
            delegate: Delegate(onDemand: onDemand)
        )
        return (RequestBodyStream(source: parts.source), RequestBody(asyncSequence: parts.sequence))
    }

    /// The demand of a body's reader.
    enum Demand: Sendable {
        case more
        /// The reader has ended, after the whole body or before.
        case nothing
    }

    struct Delegate: NIOAsyncSequenceProducerDelegate {
        let onDemand: @Sendable (Demand) -> Void

        func produceMore() { onDemand(.more) }
        func didTerminate() { onDemand(.nothing) }
    }

    /// Passes a part of the body on. Returns whether the reader can take more.
    func yield(_ part: ByteBuffer) -> Bool {
        source.yield(part) != .stopProducing
    }

    /// Ends the body.
    ///
    /// - Parameter error: The error that the reader receives; `nil` if the body is complete.
    func finish(_ error: (any Error)? = nil) {
        if let error { source.finish(error) } else { source.finish() }
    }
}
