internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

extension StructuredQuery {
    /// Writes the members of the query in the format of `query.run`.
    func writeMembers(to writer: inout JSONWriter) {
        source.writeMembers(to: &writer)
        if let filter {
            writer.key("where")
            filter.write(to: &writer)
        }
        if !orders.isEmpty { writer.array("orderBy", of: orders) { $1.write(to: &$0) } }
        start?.writeMember(start?.isInclusive == true ? "startAt" : "startAfter", to: &writer)
        end?.writeMember(end?.isInclusive == true ? "endAt" : "endBefore", to: &writer)
        if offset != 0 {
            writer.key("offset")
            writer.integer(Int64(offset))
        }
        switch limit {
        case .first(let count)?:
            writer.key("limit")
            writer.integer(Int64(count))
        case .last(let count)?:
            writer.key("limitToLast")
            writer.integer(Int64(count))
        case nil: break
        }
        if !projection.isEmpty { writer.array("select", of: projection) { $0.string($1.description) } }
        if let vectorSearch {
            writer.key("findNearest")
            vectorSearch.write(to: &writer)
        }
    }
}

extension StructuredQuery.Source {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .collection(let path):
            writer.member("collection", path.string)
        case .collectionGroup(let id, let parent):
            if let parent { writer.member("parent", parent.string) }
            writer.member("collectionGroup", id.key.string)
        case .descendants(let parent):
            if let parent { writer.member("parent", parent.string) }
            writer.key("allDescendants")
            writer.boolean(true)
        }
    }
}

extension StructuredQuery.Order {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("field", key.field.description)
        if case .distance(_, let center) = key {
            writer.key("distanceFrom")
            Value.geoPoint(center).write(to: &writer)
        }
        if direction == .descending { writer.member("direction", "desc") }
        writer.endObject()
    }
}

extension StructuredQuery.Cursor {
    fileprivate func writeMember(_ name: StaticString, to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginObject()
        writer.array("values", of: values) { $1.write(to: &$0) }
        writer.endObject()
    }
}

extension VectorSearch {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("field", field.description)
        writer.key("vector")
        Value.vector(vector).write(to: &writer)
        writer.member("measure", measure.rawValue)
        writer.key("limit")
        writer.integer(Int64(limit))
        if let distanceField { writer.member("distanceResultField", distanceField.description) }
        if let threshold {
            writer.key("distanceThreshold")
            Value.double(threshold).write(to: &writer)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes a string member.
    mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    /// Writes an array member.
    mutating func array<Element>(
        _ name: StaticString,
        of elements: [Element],
        _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}
