import ArgumentParser
import DocumentModel
import UTF8Text

/// An expiry argument: a duration or a time.
enum KeyExpiry: Hashable {
    case after(seconds: Int64)
    case at(Timestamp)

    /// Parses a duration (`90d`, `12h`, `30m`) or an RFC 3339 timestamp.
    init(argument: String) throws {
        if let time = try? Timestamp(rfc3339: argument) {
            self = .at(time)
            return
        }
        let digits = argument.utf8.dropLast()
        let seconds: Int64? =
            switch argument.utf8.last {
            case UInt8(ascii: "d"): 86_400
            case UInt8(ascii: "h"): 3_600
            case UInt8(ascii: "m"): 60
            default: nil
            }
        guard let seconds, (1...6).contains(digits.count), digits.allSatisfy(\.isDigit),
            let count = Int64(String(Substring(digits))),
            count > 0
        else {
            throw ValidationError(
                "\(Excerpt(argument)) is neither a duration, such as 90d, 12h or 30m, nor a time, such as 2027-01-31T00:00:00Z."
            )
        }
        self = .after(seconds: count * seconds)
    }

    /// Returns the expiry time.
    func time(from now: Timestamp) throws(StatusError) -> Timestamp {
        switch self {
        case .at(let time): time
        case .after(let seconds): try Timestamp(microseconds: now.microseconds + seconds * 1_000_000)
        }
    }
}
