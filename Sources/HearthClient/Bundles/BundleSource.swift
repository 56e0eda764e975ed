internal import Dispatch
internal import DocumentModel
internal import Foundation

/// The bytes of a bundle.
enum BundleSource: Sendable {
    case data([UInt8])
    // The stream is accessed on the queue alone.
    case stream(UncheckedSendable<InputStream>, on: DispatchQueue)

    init(_ stream: InputStream) {
        self = .stream(UncheckedSendable(stream), on: DispatchQueue(label: "hearth.bundle"))
    }

    private static let chunkByteCount = 64 << 10

    /// Returns the next bytes; `nil` at the end. They are removed from the source.
    mutating func next() async throws(StatusError) -> [UInt8]? {
        switch self {
        case .data(let bytes):
            self = .data([])
            return bytes.isEmpty ? nil : bytes
        case .stream(let stream, let queue):
            let result: Result<[UInt8], StatusError> = await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: Self.read(stream.value)) }
            }
            let bytes = try result.get()
            return bytes.isEmpty ? nil : bytes
        }
    }

    private static func read(_ stream: InputStream) -> Result<[UInt8], StatusError> {
        if stream.streamStatus == .notOpen { stream.open() }
        var bytes = [UInt8](repeating: 0, count: chunkByteCount)
        let count = stream.read(&bytes, maxLength: bytes.count)
        guard count >= 0 else {
            let error = stream.streamError
            let reason = error.map { ": \($0.localizedDescription)" } ?? "."
            return .failure(StatusError(.unavailable, "The stream of the bundle could not be read\(reason)", cause: error))
        }
        bytes.removeLast(bytes.count - count)
        if bytes.isEmpty { stream.close() }
        return .success(bytes)
    }
}
