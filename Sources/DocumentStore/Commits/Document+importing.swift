package import DocumentModel

extension Document {
    /// Checks the times that a document keeps when it is imported.
    ///
    /// - Parameter time: The time of the import.
    /// - Throws: `.invalidArgument` for a document that was created after its update, or updated in the future.
    package func checkTimes(upTo time: Timestamp) throws(StatusError) {
        guard createTime <= updateTime else {
            throw StatusError(.invalidArgument, "The create time is after the update time.", path: path.string)
        }
        guard updateTime <= time else {
            throw StatusError(.invalidArgument, "The update time \(updateTime.rfc3339) is in the future.", path: path.string)
        }
    }
}
