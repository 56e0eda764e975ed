internal import DocumentModel
internal import UTF8Text

/// A path of the rules language: `/databases/(default)/documents/users/alice`, or any other segments.
package struct RulePath: Sendable {
    /// The segments. One that is `nil` is not known, in the proof of a query.
    let segments: [UTF8Key?]
    /// The segments that `bind` filled in, by the names of their wildcards.
    private let bindings: [(name: UTF8Key, value: UTF8Key)]

    init(_ segments: [UTF8Key?], bindings: [(name: UTF8Key, value: UTF8Key)] = []) {
        self.segments = segments
        self.bindings = bindings
    }

    /// Creates the path of a document.
    init(_ path: DocumentPath, in database: UTF8Key) {
        self.init(RulePath.root(of: database) + path.segments)
    }

    /// Creates a path from text, such as `users/alice` or `/users/{uid}`.
    ///
    /// Empty segments are kept, and name no document: without them, a path with an empty string in it would name another one.
    init(text: UTF8Key) {
        let slash = UInt8(ascii: "/")
        let names = text.utf8.first == slash ? text.utf8.dropFirst() : text.utf8[...]
        let parts = names.split(separator: slash, omittingEmptySubsequences: false)
        self.init(parts.map { UTF8Key(Substring($0)) })
    }

    /// The segments that are the same for all documents of a database.
    static func root(of database: UTF8Key) -> [UTF8Key] { ["databases", database, "documents"] }

    /// False if a segment is not known.
    var isConcrete: Bool { segments.allSatisfy { $0 != nil } }

    /// The path as text, with a leading slash; `nil` if a segment is not known.
    var text: UTF8Key? {
        guard isConcrete else { return nil }
        return UTF8Key(segments.compactMap { $0.map { "/" + $0.string } }.joined())
    }

    /// Returns the segment that `bind` filled in for a wildcard.
    func binding(named name: UTF8Key) -> UTF8Key? {
        bindings.first { $0.name == name }?.value
    }

    /// Returns the path with its wildcards `{name}` replaced, or `nil` if a value is missing or no string.
    func bound(to values: RuleMap) -> RulePath? {
        var bindings = bindings
        var bound: [UTF8Key?] = []
        for segment in segments {
            guard let name = segment?.wildcardName else {
                bound.append(segment)
                continue
            }
            guard case .string(let value)? = values[name], value.isPathSegment else { return nil }
            bindings.append((name, value))
            bound.append(value)
        }
        return RulePath(bound, bindings: bindings)
    }

    /// The path of the document in a database; `nil` if it is none, or in another database.
    func document(in database: UTF8Key) -> DocumentPath? {
        let root = RulePath.root(of: database)
        guard segments.count > root.count, zip(segments, root).allSatisfy({ $0 == $1 }) else { return nil }
        let names = segments.dropFirst(root.count).compactMap { $0?.string }
        guard names.count == segments.count - root.count, names.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) }) else {
            return nil
        }
        return try? DocumentPath(names.joined(separator: "/"))
    }
}

extension RulePath: Hashable {
    /// Returns whether both have the same segments.
    package static func == (left: RulePath, right: RulePath) -> Bool { left.segments == right.segments }

    /// Hashes the segments.
    package func hash(into hasher: inout Hasher) { hasher.combine(segments) }
}

extension UTF8Key {
    /// True if the string names exactly one segment of a path.
    ///
    /// A string that is empty or has a slash would name another document than the rule's author meant.
    var isPathSegment: Bool { byteCount > 0 && !utf8.contains(UInt8(ascii: "/")) }

    /// The name in `{name}`; `nil` for any other text.
    fileprivate var wildcardName: UTF8Key? {
        guard byteCount > 2, utf8.first == UInt8(ascii: "{"), utf8.last == UInt8(ascii: "}") else { return nil }
        return UTF8Key(Substring(utf8.dropFirst().dropLast()))
    }
}
