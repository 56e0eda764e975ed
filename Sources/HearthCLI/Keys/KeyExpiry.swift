import ArgumentParser
import DocumentModel

/// When a key is to expire, as it is said on the command line.
enum KeyExpiry: Hashable {
    case after(seconds: Int64)
    case at(Timestamp)

    /// Reads `90d`, `12h`, `30m`, or a time as RFC 3339 writes it.
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
                "\(Excerpt(argument)) is neither a time such as 2027-01-31T00:00:00Z nor how long from now, such as 90d, 12h or 30m."
            )
        }
        self = .after(seconds: count * seconds)
    }

    /// The moment that is meant.
    func time(from now: Timestamp) throws(StatusError) -> Timestamp {
        switch self {
        case .at(let time): time
        case .after(let seconds): try Timestamp(microseconds: now.microseconds + seconds * 1_000_000)
        }
    }
}
