extension Write {
    /// Computes the result of the write on the current document, without side effects.
    ///
    /// Checks the precondition, replaces or patches the fields, applies the transforms in order, and validates the result. A
    /// write that leaves the fields identical is not a change and keeps the update time. Overwriting keeps the create time.
    ///
    /// - Parameters:
    ///   - current: The document at the write's path, or `nil` if there is none.
    ///   - commitTime: The commit time, later than that of every earlier commit.
    /// - Returns: The document after the write, or `nil` if there is none; the result for the caller; whether the document changed.
    /// - Throws: ``StatusCode/notFound``, ``StatusCode/alreadyExists`` or ``StatusCode/failedPrecondition`` if
    ///   the precondition doesn't hold, ``StatusCode/invalidArgument`` if the write isn't valid for this document.
    public func applied(
        to current: Document?,
        at commitTime: Timestamp
    ) throws(StatusError) -> (document: Document?, result: WriteResult, isChange: Bool) {
        try precondition.check(current, at: path, commitTime: commitTime)
        guard operation.storesDocument else {
            try rejectTransforms()
            let document = operation == .verify ? current : nil
            return (document, WriteResult(updateTime: document?.updateTime), current != nil && document == nil)
        }
        var fields = operation.fields(from: current)
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

    /// Computes the document after the write, whether or not its precondition holds and the document is valid.
    ///
    /// For deciding whether the write is permitted, before its error could tell of the document.
    ///
    /// - Returns: The document, or `nil` if there is none.
    /// - Throws: ``StatusCode/invalidArgument`` for transforms that are invalid for every document.
    package func effect(on current: Document?, at commitTime: Timestamp) throws(StatusError) -> Document? {
        guard operation.storesDocument else { return operation == .verify ? current : nil }
        var fields = operation.fields(from: current)
        _ = try transform(&fields, at: commitTime)
        return Document(path: path, fields: fields, createTime: current?.createTime ?? commitTime, updateTime: commitTime)
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

    private func rejectTransforms() throws(StatusError) {
        if let field = transforms.first?.field.description {
            throw StatusError(
                .invalidArgument,
                "A \(operation) cannot have transforms. Remove them.",
                path: path.string,
                field: field
            )
        }
    }
}

extension Write.Operation {
    /// Returns the fields before the transforms; none for an operation that doesn't store the document.
    fileprivate func fields(from current: Document?) -> MapValue {
        switch self {
        case .replace(let fields): fields
        case .patch(let fields, let mask): (current?.fields ?? MapValue()).patched(from: fields, mask: mask)
        case .delete, .verify: MapValue()
        }
    }
}
