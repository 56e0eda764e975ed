extension Write {
    /// What the write makes of a document as it is now; nothing is changed anywhere.
    ///
    /// The precondition is checked first. Then the fields are replaced or patched, the transforms are applied in order, and
    /// the result is held against the rules for documents. A write that leaves the fields as they are stored is no change
    /// and keeps the update time. Overwriting keeps the create time.
    ///
    /// - Parameters:
    ///   - current: The document at the write's path, or nil when there is none.
    ///   - commitTime: The time of the commit, later than that of every earlier one.
    /// - Returns: The document afterwards, nil when there is none; the result for the caller; whether anything changed.
    /// - Throws: ``StatusCode/notFound``, ``StatusCode/alreadyExists`` or ``StatusCode/failedPrecondition`` for a
    ///   precondition that doesn't hold, ``StatusCode/invalidArgument`` for a write that can't succeed on this document.
    public func applied(
        to current: Document?,
        at commitTime: Timestamp
    ) throws(StatusError) -> (document: Document?, result: WriteResult, isChange: Bool) {
        try precondition.check(current, at: path, commitTime: commitTime)
        guard var fields = operation.fields(from: current) else {
            try refuseTransforms()
            return (nil, WriteResult(updateTime: nil), current != nil)
        }
        let transformResults = try transform(&fields, at: commitTime)
        if let current, current.fields == fields {
            return (current, WriteResult(updateTime: current.updateTime, transformResults: transformResults), false)
        }
        try Document.validate(fields, at: path)
        let document = Document(
            path: path,
            fields: fields,
            createTime: current?.createTime ?? commitTime,
            updateTime: commitTime
        )
        return (document, WriteResult(updateTime: commitTime, transformResults: transformResults), true)
    }

    private func transform(_ fields: inout MapValue, at commitTime: Timestamp) throws(StatusError) -> [Value] {
        try FieldTransform.validateCount(transforms.count, at: path)
        var results: [Value] = []
        for transform in transforms {
            do throws(StatusError) {
                results.append(try transform.apply(to: &fields, at: commitTime))
            } catch {
                throw error.at(path)
            }
        }
        return results
    }

    private func refuseTransforms() throws(StatusError) {
        if let field = transforms.first?.field.description {
            throw StatusError(
                .invalidArgument,
                "A delete leaves no field to transform. Remove the transforms.",
                path: path.string,
                field: field
            )
        }
    }
}

extension Write.Operation {
    /// The fields before transforms; nil for a delete.
    fileprivate func fields(from current: Document?) -> MapValue? {
        switch self {
        case .replace(let fields): fields
        case .patch(let fields, let mask): (current?.fields ?? MapValue()).patched(from: fields, mask: mask)
        case .delete: nil
        }
    }
}
