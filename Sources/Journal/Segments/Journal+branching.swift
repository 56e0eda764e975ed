package import DocumentModel
package import DocumentStore
package import StorageIO

extension Journal {
    /// Gives the segments of earlier epochs the epoch of the branch that contains their commits. The journal must not be open.
    ///
    /// A segment after the last commit of an epoch is empty, and belongs to the branch as well: the process ended before its first record.
    ///
    /// Each header is written in one sector. After a crash, a second call continues.
    ///
    /// - Parameters:
    ///   - folder: The folder of the segments.
    ///   - lineage: The earlier epochs.
    package static func relabelSegments(
        in folder: borrowing FileDescriptor,
        of lineage: [AncestorEpoch],
        as epoch: Epoch
    ) throws(StatusError) {
        guard !lineage.isEmpty else { return }
        for segment in try index(of: folder).segments {
            try reporting("write", path(first: segment.first)) { () throws(FileSystemError) in
                let file = try folder.openFile(segment.name, for: .updating)
                guard
                    case .segment(let earlier, segment.first) = JournalSegment.readHeader(
                        try file.read(JournalSegment.headerBytes)
                    ),
                    earlier != epoch,
                    lineage.contains(where: { $0.epoch == earlier && segment.first <= $0.lastSequence.next })
                else { return }
                try file.write(JournalSegment.header(epoch: epoch, first: segment.first))
                try file.synchronizeData()
            }
        }
    }
}
