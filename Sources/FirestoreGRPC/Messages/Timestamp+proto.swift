import DocumentModel
import FirestoreAPI
import SwiftProtobuf
import UTF8Text

extension Timestamp {
    /// Decodes a time, truncated to microseconds, toward the past.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a time outside the years 1 to 9999, and for invalid nanoseconds.
    init(_ message: Google_Protobuf_Timestamp) throws(StatusError) {
        guard (0..<1_000_000_000).contains(message.nanos) else {
            throw StatusError(.invalidArgument, "Expected 0 to 999,999,999 nanoseconds in a timestamp, found \(message.nanos).")
        }
        let (product, overflowed) = message.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, sumOverflowed) = product.addingReportingOverflow(Int64(message.nanos / 1_000))
        // Saturated times are out of range.
        try self.init(microseconds: overflowed || sumOverflowed ? (message.seconds < 0 ? .min : .max) : sum)
    }

    /// Decodes a time without loss of precision, such as one that the server returned.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a precision finer than a microsecond, and for the same reasons as
    ///   ``init(_:)``.
    init(exactly message: Google_Protobuf_Timestamp) throws(StatusError) {
        try self.init(message)
        guard message.nanos % 1_000 != 0 else { return }
        // Throws the error for this time.
        let nanoseconds = String(message.nanos % 1_000)
        let digits = String(repeating: "0", count: 3 - nanoseconds.utf8.count) + nanoseconds
        try self.init(exactRFC3339: String(Substring(rfc3339.utf8.dropLast())) + digits + "Z")
    }
}

extension Google_Protobuf_Timestamp {
    init(_ time: Timestamp) {
        let (seconds, microseconds) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let isNegative = microseconds < 0
        self.init(
            seconds: isNegative ? seconds - 1 : seconds,
            nanos: Int32(isNegative ? microseconds + 1_000_000 : microseconds) * 1_000
        )
    }
}
