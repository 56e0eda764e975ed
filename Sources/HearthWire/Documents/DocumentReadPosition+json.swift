package import DocumentModel
package import StrictJSON

extension DocumentReadPosition {
    /// Parses the members `readTime` and `epoch` of an answer; returns `nil` without them.
    ///
    /// - Throws: An error if the time is a string that is not a time.
    package init?(json: JSONNode) throws(StatusError) {
        guard let time = try json.time(QueryResponseKeys.readTime), let epoch = json[QueryResponseKeys.epoch]?.string else {
            return nil
        }
        self.init(time: time, epoch: epoch)
    }

    /// Writes the members `readTime` and `epoch`.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.member(QueryResponseKeys.readTime, time.rfc3339)
        writer.member(QueryResponseKeys.epoch, epoch)
    }
}
