internal import UTF8Text

/// The whole path of a match block, from the root of the server.
struct PathPattern: Sendable {
    /// The segments before the glob, or all of them.
    private let head: [PatternSegment]
    /// The segments after the glob; `nil` if there is no glob.
    private let tail: [PatternSegment]?
    private let version: RulesVersion

    init(_ segments: [PatternSegment], _ version: RulesVersion) {
        let glob = segments.firstIndex(where: \.isGlob)
        head = Array(segments[..<(glob ?? segments.count)])
        tail = glob.map { Array(segments[($0 + 1)...]) }
        self.version = version
    }

    /// Returns what the wildcards match, in order, or `nil` if the pattern does not cover the path.
    func match(_ path: RequestPath) -> [RuleValue]? {
        guard path.gap == nil else { return matchAcrossGap(path) }
        let segments = path.segments
        let count = head.count + (tail?.count ?? 0)
        var captures: [RuleValue] = []
        guard let tail else {
            guard segments.count == count, Self.match(head, segments[...], &captures) else { return nil }
            return captures
        }
        guard segments.count >= count + (version == .one ? 1 : 0) else { return nil }
        let globEnd = segments.count - tail.count
        guard Self.match(head, segments[..<head.count], &captures) else { return nil }
        captures.append(.path(RulePath(Array(segments[head.count..<globEnd]))))
        guard Self.match(tail, segments[globEnd...], &captures) else { return nil }
        return captures
    }

    /// Matches a path with any number of unknown segments at one place, which only a glob covers whatever they are. Version 1
    /// never allows such a query.
    private func matchAcrossGap(_ path: RequestPath) -> [RuleValue]? {
        guard version == .two, let gap = path.gap, let tail, head.count <= gap, tail.count <= path.segments.count - gap else {
            return nil
        }
        var captures: [RuleValue] = []
        guard Self.match(head, path.segments[..<head.count], &captures) else { return nil }
        captures.append(.symbolic(SymbolicValue(type: .path)))
        guard Self.match(tail, path.segments.suffix(tail.count), &captures) else { return nil }
        return captures
    }

    private static func match(
        _ pattern: [PatternSegment],
        _ segments: ArraySlice<UTF8Key?>,
        _ captures: inout [RuleValue]
    ) -> Bool {
        for (expected, segment) in zip(pattern, segments) {
            switch expected {
            case .literal(let name):
                // An unknown segment may be any, so a literal does not cover it.
                guard segment == name else { return false }
            case .wildcard:
                captures.append(segment.map(RuleValue.string) ?? .symbolic(SymbolicValue(type: .string)))
            case .glob:
                return false
            }
        }
        return true
    }
}

/// The path of a request: of a document, or of all documents that a query may find.
struct RequestPath: Sendable {
    /// The segments from the root of the server; `nil` for one that may be any.
    let segments: [UTF8Key?]
    /// The index at which any number of further segments may be; `nil` if there are none.
    let gap: Int?

    init(_ segments: [UTF8Key?], gap: Int? = nil) {
        self.segments = segments
        self.gap = gap
    }

    /// The path as a value of the language.
    var value: RuleValue {
        gap == nil ? .path(RulePath(segments)) : .symbolic(SymbolicValue(type: .path))
    }
}
