internal import DocumentModel

extension JournalScan {
    /// Whether the header is the segment's; false when it is none.
    func check(_ header: JournalSegment.Header, segment: SequenceNumber) throws(StatusError) -> Bool {
        switch header {
        case .segment(opening.epoch, segment):
            return true
        case .segment(let epoch, _) where epoch != opening.epoch:
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) belongs to another database or to another history of this one. "
                    + "Move the files that were copied into \(DataFolder.journalName)/ away."
            )
        case .version(let version):
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) has the format version \(version), and this Hearth reads version "
                    + "\(JournalSegment.version). Use the Hearth that wrote it; after a clean stop of that one, the folder "
                    + "\(DataFolder.journalName)/ can also be moved away, and with it the history of the documents."
            )
        case .segment, .empty, .damaged:
            return false
        }
    }

    /// The error for damage that may have cost commits whose documents are not complete.
    static func neededDamage(_ place: JournalPlace) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Journal.path(first: place.segment)) is damaged at byte \(place.offset), where commits stood whose documents may not "
                + "be complete. Restore the data folder from a backup, or, to go on with the documents as they are, move the folder "
                + "\(DataFolder.journalName)/ away."
        )
    }
}
