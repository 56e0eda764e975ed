internal import Glibc
import Synchronization

/// The current time in HTTP date format (RFC 9110, 5.6.7), formatted at most once per second.
final class HTTPDateCache: Sendable {
    private let last = Mutex((second: time_t.min, text: ""))

    var text: String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = (second, Self.text(of: second)) }
            return last.text
        }
    }

    static func text(of second: time_t) -> String {
        var second = second
        var date = tm()
        gmtime_r(&second, &date)
        // Long enough for any year.
        return String(unsafeUninitializedCapacity: 64) { bytes in
            bytes.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, "%a, %d %b %Y %H:%M:%S GMT", &date) }
        }
    }
}
