import Cryptography
package import DocumentModel
import StrictJSON
import UTF8Text

/// The chain of digests through the lines of an audit log: each line has the SHA-256 of the one before, so that a change, a removal or
/// an insertion in the middle shows. Lines that were cut off at the end don't.
package struct AuditChain: Sendable {
    /// The number of the last line; `nil` before the first.
    package private(set) var number: Int?
    /// The digest of the last line.
    private(set) var digest = Self.start

    /// The digest before the first line of a log.
    private static let start = String(repeating: "0", count: 64)

    package init() {}

    /// Adds the next line.
    ///
    /// - Parameter line: The line without its line feed.
    /// - Throws: ``StatusCode/dataLoss`` if it isn't a line of an audit log or doesn't follow the one before.
    package mutating func append(_ line: [UInt8]) throws(StatusError) {
        guard let root = try? JSONText(line).root, case .integer(let value)? = root[AuditKeys.number]?.number,
            let next = Int(exactly: value), let previous = root[AuditKeys.previous]?.string
        else { throw StatusError(.dataLoss, "it is not a line of an audit log") }
        if let number {
            guard next == number + 1 else {
                throw StatusError(.dataLoss, "number \(next) follows \(number): lines are missing, repeated or out of order")
            }
            guard previous == digest else {
                throw StatusError(.dataLoss, "the line before was changed: its SHA-256 is not the one in this line")
            }
        } else if next == 1, previous != Self.start {
            throw StatusError(.dataLoss, "the first line names a line before it")
        }
        accept(line, number: next)
    }

    /// Adds a line that was made for this place.
    mutating func accept(_ line: [UInt8], number: Int) {
        self.number = number
        digest = Hexadecimal.encode(SHA256.digest(of: line))
    }
}
