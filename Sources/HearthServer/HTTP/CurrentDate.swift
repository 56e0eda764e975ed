internal import Glibc
import Synchronization

/// The time as HTTP writes it (RFC 9110, 5.6.7). It has seconds, so it is made once in each.
final class CurrentDate: Sendable {
    private let last = Mutex((second: time_t.min, text: ""))

    var httpText: String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = (second, Self.httpText(of: second)) }
            return last.text
        }
    }

    static func httpText(of second: time_t) -> String {
        var second = second
        var date = tm()
        gmtime_r(&second, &date)
        // Longer than any year needs.
        return String(unsafeUninitializedCapacity: 64) { bytes in
            bytes.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, "%a, %d %b %Y %H:%M:%S GMT", &date) }
        }
    }
}
