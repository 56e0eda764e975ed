internal import DocumentModel

extension NormalizedQuery {
    /// Returns whether a match sorts before another: by distance in an exhaustive vector search, otherwise by the query's order.
    func precedes(_ left: QueryMatch, _ right: QueryMatch) -> Bool {
        if isExhaustiveVectorSearch, let search = vectorSearch, let first = left.distance, let second = right.distance,
            first != second
        {
            return search.measure.isCloser(first, than: second)
        }
        return compare(left.key, right.key) == .less
    }

    /// Returns a matching document with the fields of the result.
    ///
    /// - Parameter mask: The fields to return; `nil` for the query's projection.
    func resultDocument(
        _ document: EncodedDocument,
        _ fields: MapValue,
        _ distance: Double?,
        _ mask: [FieldPath]?
    ) -> EncodedDocument {
        if let mask { return document.replacingFields(fields.masked(mask)) }
        return returnsWholeDocuments ? document : document.replacingFields(projected(fields, distance: distance))
    }
}

extension EncodedDocument {
    fileprivate func replacingFields(_ fields: MapValue) -> EncodedDocument {
        EncodedDocument(Document(path: path, fields: fields, createTime: createTime, updateTime: updateTime))
    }
}

extension StatusError {
    /// Returns the error for a result that exceeds the response limit.
    static func resultTooLarge(_ maximumBytes: Int) -> StatusError {
        StatusError(
            .resourceExhausted,
            "The result exceeds the limit of \(maximumBytes) bytes. Use a smaller limit, and a cursor after the last document for the "
                + "next page."
        )
    }
}
