extension DocumentLimits {
    /// How many transforms one commit may apply to a document.
    public static let maximumTransforms = 500
}

extension FieldTransform {
    /// Checks how many transforms a commit applies to a document.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document.
    package static func validateCount(_ count: Int, at path: DocumentPath) throws(StatusError) {
        guard count <= DocumentLimits.maximumTransforms else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(DocumentLimits.maximumTransforms) transforms of a document in one commit, found \(count). "
                    + "Divide them among several commits.",
                path: path.string
            )
        }
    }

    /// Checks the same for all documents of a commit; several writes of one document count together.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document, and the write that is one too many.
    package static func validateCounts(in writes: [Write]) throws(StatusError) {
        var counts: [DocumentPath: Int] = [:]
        for (index, write) in writes.enumerated() where !write.transforms.isEmpty {
            let count = counts[write.path, default: 0] + write.transforms.count
            counts[write.path] = count
            do throws(StatusError) {
                try validateCount(count, at: write.path)
            } catch {
                throw error.ofWrite(at: index)
            }
        }
    }
}
