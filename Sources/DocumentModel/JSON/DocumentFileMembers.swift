internal import StrictJSON
internal import UTF8Text

/// The top-level members of a document file: the metadata, and either the fields or a single map of all fields.
struct DocumentFileMembers {
    private(set) var metadata: JSONNode?
    private var map: JSONNode?
    private var members: [(key: UTF8Key, value: JSONNode)] = []

    init(_ all: JSONNode.Members) throws(ValueDecodingError) {
        members.reserveCapacity(min(all.underestimatedCount, 1_024))
        for (key, node) in all {
            if key == DocumentFileMetadata.key {
                metadata = node
            } else if key == ValueTag.map.key {
                map = node
            } else if key.beginsWithDollar {
                throw ValueDecodingError(
                    node,
                    "The name of a top-level member cannot begin with $, found \(Excerpt(key.string)). "
                        + "Put all fields into a member \"$map\": {…} next to $document."
                )
            } else {
                members.append((key, node))
            }
        }
        if map != nil, let (key, node) = members.first {
            throw ValueDecodingError(node, "The field \(Excerpt(key.string)) is outside $map. Move it into $map.")
        }
    }

    /// Decodes the fields, without validating the limits of a document.
    ///
    /// - Parameter root: The object of the members.
    func fields(of root: JSONNode) throws(ValueDecodingError) -> MapValue {
        var budget = DocumentByteBudget()
        guard let map else { return try MapValue(decoding: members, of: root, level: 0, budget: &budget) }
        return try MapValue(tagged: map, level: 0, budget: &budget)
    }
}
