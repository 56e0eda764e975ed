import HummingbirdCore
import NIOCore

/// The body of a request that arrives in several reads. Its owner bounds the bytes that are not yet read, by what the reader reports.
struct RequestBodyStream {
    fileprivate typealias Parts = NIOThrowingAsyncSequenceProducer<ByteBuffer, any Error, Unbounded, Delegate>

    private let source: Parts.Source

    /// The progress of a body's reader.
    enum Progress: Sendable {
        /// The reader has read a number of bytes since the last report. Rare: the last few KiB are not reported.
        case read(byteCount: Int)
        /// The reader has ended, after the whole body or before.
        case ended
    }

    /// Creates a stream and the body that reads from it.
    ///
    /// - Parameter report: Called on any thread.
    static func makeStream(
        reporting report: @escaping @Sendable (Progress) -> Void
    ) -> (stream: RequestBodyStream, body: RequestBody) {
        let parts = Parts.makeSequence(
            backPressureStrategy: Unbounded(),
            finishOnDeinit: false,
            delegate: Delegate(report: report)
        )
        return (
            RequestBodyStream(source: parts.source),
            RequestBody(asyncSequence: ReportingBody(parts: parts.sequence, report: report))
        )
    }

    /// Passes a part of the body on.
    func yield(_ part: ByteBuffer) {
        _ = source.yield(part)
    }

    /// Ends the body.
    ///
    /// - Parameter error: The error that the reader receives; `nil` if the body is complete.
    func finish(_ error: (any Error)? = nil) {
        if let error { source.finish(error) } else { source.finish() }
    }
}

extension RequestBodyStream {
    fileprivate struct Unbounded: NIOAsyncSequenceProducerBackPressureStrategy {
        mutating func didYield(bufferDepth: Int) -> Bool { true }
        mutating func didConsume(bufferDepth: Int) -> Bool { true }
    }

    fileprivate struct Delegate: NIOAsyncSequenceProducerDelegate {
        let report: @Sendable (Progress) -> Void

        func produceMore() {}
        func didTerminate() { report(.ended) }
    }

    /// The parts of a body, which reports how much of them has been read.
    fileprivate struct ReportingBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        let parts: Parts
        let report: @Sendable (Progress) -> Void

        /// The number of bytes per report, each of which costs a job of the event loop.
        private static let reportedBytes = 16 << 10

        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var parts: Parts.AsyncIterator
            fileprivate let report: @Sendable (Progress) -> Void
            private var unreportedBytes = 0

            fileprivate init(parts: Parts.AsyncIterator, report: @escaping @Sendable (Progress) -> Void) {
                self.parts = parts
                self.report = report
            }

            mutating func next() async throws -> ByteBuffer? {
                guard let part = try await parts.next() else { return nil }
                unreportedBytes += part.readableBytes
                if unreportedBytes >= ReportingBody.reportedBytes {
                    report(.read(byteCount: unreportedBytes))
                    unreportedBytes = 0
                }
                return part
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(parts: parts.makeAsyncIterator(), report: report)
        }
    }
}
