internal import DocumentModel
internal import GRDB

extension IndexApplier {
    /// Opens the index that is there.
    ///
    /// - Parameter last: The last commit of all.
    /// - Returns: Why it must be made anew, or nil when it is open.
    mutating func open(last: SequenceNumber) throws(Obstacle) -> String? {
        let fault = try Self.folder { () throws(StatusError) -> String? in
            if let fault = try file.fault() { return fault }
            try file.removeStrayLogs()
            return nil
        }
        if let fault { return fault }
        do throws(IndexFailure) {
            // A log that this start has written is whole, and where the disk was full the file without it may be half of one.
            let isOwn = edition == file.edition
            let fileState = isOwn ? nil : try file.fileState()
            let database = try file.openForWriting(isNew: false)
            let state = try IndexFailure.catching { try database.inDatabase { try IndexState($0) } }
            guard let state, state.epoch == epoch, state.isComplete, state.sequence <= last else {
                try? database.close()
                return "it is of another version or history, or incomplete"
            }
            if !isOwn || state.edition != edition, let fault = file.fault(of: state, fileState: fileState) {
                try? database.close()
                return fault
            }
            self.database = database
            applied = state.sequence
            edition = state.edition
        } catch {
            guard error.isOfFile else { throw .index(error) }
            return "it can't be read: \(error.message)"
        }
        return nil
    }
}
