import FirestoreProto
import Foundation
import NIOCore
import NIOHPACK
import SwiftProtobuf

/// A response of a `Listen` stream, as far as the load needs it.
enum ListenResponse: Equatable {
    /// A change of a document, not decoded.
    case document
    /// The target is complete.
    case current
    /// All targets are complete as of a time in nanoseconds since 1970.
    case snapshot(time: Int64)
    case failure(String)
    case other

    /// Returns the milliseconds since a time in nanoseconds since 1970.
    static func milliseconds(since time: Int64) -> Double {
        Date().timeIntervalSince1970 * 1_000 - Double(time) / 1_000_000
    }
}

/// Decodes responses of many `Listen` streams. Most are equal to the one before, of another stream, and decoded once.
struct ListenResponseDecoder {
    private var last: (bytes: ByteBuffer, response: ListenResponse) = (ByteBuffer(), .other)

    /// The first byte of a message with a field `target_change`, and of one with `document_change`.
    private static let targetChange: UInt8 = 2 << 3 | 2
    private static let documentChange: UInt8 = 3 << 3 | 2

    mutating func decode(_ message: ByteBuffer) -> ListenResponse {
        switch message.getInteger(at: message.readerIndex, as: UInt8.self) {
        case Self.documentChange: return .document
        case Self.targetChange: break
        default: return .other
        }
        if message != last.bytes { last = (message, Self.targetChange(message)) }
        return last.response
    }

    private static func targetChange(_ message: ByteBuffer) -> ListenResponse {
        guard let change = try? ProtoListenResponse(serializedBytes: Array(message.readableBytesView)).targetChange else {
            return .failure("A response is not a valid message.")
        }
        switch change.targetChangeType {
        case .current: return .current
        case .remove: return .failure("A target was removed: \(change.cause.message)")
        case .noChange where change.targetIds.isEmpty && change.hasReadTime:
            return .snapshot(time: change.readTime.seconds * 1_000_000_000 + Int64(change.readTime.nanos))
        default: return .other
        }
    }
}

extension HPACKHeaders {
    /// Returns the head of a gRPC call.
    static func grpcCall(_ path: String, port: Int) -> HPACKHeaders {
        [
            ":method": "POST", ":scheme": "http", ":path": path, ":authority": "127.0.0.1:\(port)",
            "content-type": "application/grpc", "te": "trailers",
        ]
    }
}
