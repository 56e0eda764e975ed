internal import DocumentModel
internal import UTF8Text

extension RuleValue: CustomStringConvertible {
    /// The value as in debug output and reports: strings in quotes, long texts and collections shortened.
    package var description: String { description(depth: 0) }

    private func description(depth: Int) -> String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .float(let value): "\(value)"
        case .string(let value): Excerpt(value.string).quotedSingly
        case .bytes(let value): "bytes of length \(value.count)"
        case .timestamp(let value): value.description
        case .duration(let value): value.description
        case .latlng(let value): "latlng(\(value.latitude), \(value.longitude))"
        case .path(let value):
            value.segments.map { "/" + ($0.map { Excerpt($0.string).text } ?? "?") }.joined()
        case .list(let value):
            Self.list(value.count, "[", "]", depth) { value[$0].description(depth: depth + 1) }
        case .set(let value):
            Self.list(value.count, "set([", "])", depth) { value.elements[$0].description(depth: depth + 1) }
        case .map(let value): Self.describe(value, depth: depth)
        case .mapDiff: "map_diff"
        case .symbolic: "constraint"
        }
    }

    private static func describe(_ map: RuleMap, depth: Int) -> String {
        if map.symbolic != nil { return "{constraints}" }
        let keys = map.keys
        return list(keys.count, "{", "}", depth) { index in
            // Every key has a value.
            let value = map[keys[index]]?.description(depth: depth + 1) ?? ""
            return "\(Excerpt(keys[index].string).quotedSingly): \(value)"
        }
    }

    private static func list(_ count: Int, _ open: String, _ close: String, _ depth: Int, _ item: (Int) -> String) -> String {
        let maximumCount = depth == 0 ? 10 : 3
        guard depth < 3 else { return open + "…" + close }
        let items = (0..<min(count, maximumCount)).map(item) + (count > maximumCount ? ["…"] : [])
        return open + items.joined(separator: ", ") + close
    }
}

extension RuleTimestamp: CustomStringConvertible {
    /// The time in RFC 3339 format, truncated to microseconds.
    package var description: String {
        let microseconds = nanoseconds / 1_000 - (nanoseconds % 1_000 < 0 ? 1 : 0)
        // A rules timestamp is in the range of stored ones.
        return (try? Timestamp(microseconds: Int64(microseconds)).rfc3339) ?? ""
    }
}

extension RuleDuration: CustomStringConvertible {
    /// The duration in seconds, as `1.5s`.
    package var description: String {
        let fraction = nanosecondsOfSecond.magnitude
        let sign = nanoseconds < 0 ? "-" : ""
        guard fraction > 0 else { return "\(seconds)s" }
        var digits = String(fraction)
        digits = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(sign)\(seconds.magnitude).\(digits)s"
    }
}
