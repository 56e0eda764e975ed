internal import UTF8Text

/// A sequence of the IDs of a path, as slices of its text.
struct PathSegmentSequence: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View?
    private var last: Substring.UTF8View?

    /// Splits `text` at slashes, and appends `last` as another segment.
    init(_ text: UTF8Key, and last: UTF8Key? = nil) {
        rest = text.utf8[...]
        self.last = last?.utf8[...]
    }

    mutating func next() -> Substring.UTF8View? {
        guard let text = rest else {
            defer { last = nil }
            return last
        }
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else {
            rest = nil
            return text
        }
        rest = text[text.index(after: slash)...]
        return text[..<slash]
    }
}

extension PathSegmentSequence {
    /// Validates an untrusted path and returns it in native UTF-8.
    static func parse(_ string: String, as kind: Identifier.Kind) throws(StatusError) -> UTF8Key {
        do throws(StatusError) {
            let text = UTF8Key(string)
            // First, so that a huge text is not scanned.
            try validateLength(text.byteCount)
            if let message = slashErrorMessage(for: text, as: kind) { throw StatusError(.invalidArgument, message) }
            var count = 0
            for segment in PathSegmentSequence(text) {
                try Identifier.validate(segment, as: count.isMultiple(of: 2) ? .collection : .document)
                count += 1
            }
            try validateDepth(ofSegments: count)
            if let message = countErrorMessage(for: text, count: count, as: kind) {
                throw StatusError(.invalidArgument, message)
            }
            return text
        } catch {
            var error = error
            error.path = Excerpt(string).text
            throw error
        }
    }

    /// Validates the length of a path.
    static func validateLength(_ bytes: Int) throws(StatusError) {
        guard bytes <= DocumentLimits.maximumPathBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected a path of at most \(DocumentLimits.maximumPathBytes) bytes, found \(bytes). Shorten its IDs."
            )
        }
    }

    /// Validates the depth of a path.
    static func validateDepth(ofSegments count: Int) throws(StatusError) {
        let collections = (count + 1) / 2
        guard collections <= DocumentLimits.maximumSubcollectionDepth else {
            throw StatusError(
                .invalidArgument,
                "Expected a path with at most \(DocumentLimits.maximumSubcollectionDepth) collections, found \(collections). "
                    + "Reduce the nesting."
            )
        }
    }

    private static func slashErrorMessage(for text: UTF8Key, as kind: Identifier.Kind) -> String? {
        let slash = UInt8(ascii: "/")
        let bytes = text.utf8
        if bytes.isEmpty {
            return "Expected a \(kind.pathName) such as \(kind.examplePath), found an empty string."
        }
        if bytes.first == slash {
            return "The path \(Excerpt(text.string)) begins with a slash. Remove it, as in \(kind.examplePath)."
        }
        if bytes.last == slash {
            return "The path \(Excerpt(text.string)) ends with a slash. Remove it, as in \(kind.examplePath)."
        }
        if text.withBytes({ bytes in zip(bytes, bytes.dropFirst()).contains { $0 == slash && $1 == slash } }) {
            return
                "The path \(Excerpt(text.string)) has an empty ID between two slashes. Insert an ID, or remove a slash."
        }
        return nil
    }

    private static func countErrorMessage(for text: UTF8Key, count: Int, as kind: Identifier.Kind) -> String? {
        var found: String { "\(Excerpt(text.string)) has \(count) \(count == 1 ? "segment" : "segments")" }
        return switch (kind, count.isMultiple(of: 2)) {
        case (.document, true), (.collection, false):
            nil
        case (.document, false):
            "Expected a document path, which has an even number of segments, but \(found) and denotes a collection. "
                + "Add a document ID, as in \(kind.examplePath)."
        case (.collection, true):
            "Expected a collection path, which has an odd number of segments, but \(found) and denotes a document. "
                + "Remove the last segment or add a collection ID, as in \(kind.examplePath)."
        }
    }
}

extension Identifier.Kind {
    fileprivate var pathName: String {
        switch self {
        case .collection: "collection path"
        case .document: "document path"
        }
    }

    fileprivate var examplePath: String {
        switch self {
        case .collection: "books or books/hitchhiker/reviews"
        case .document: "books/hitchhiker"
        }
    }
}
