package import DocumentModel
import StorageIO
import UTF8Text

/// The verification of an audit log with its earlier files.
package struct AuditVerification: Sendable {
    /// The number of the first line, above 1 if earlier files were moved away; `nil` for an empty log.
    package private(set) var firstNumber: Int?
    /// The number of the last line.
    package var lastNumber: Int? { chain.number }
    package private(set) var fileCount = 0
    private var chain = AuditChain()

    private static let chunkBytes = 1 << 20

    /// Verifies the chain of digests through all files of a log. Blocks the calling thread.
    ///
    /// - Parameter path: The path of the current file.
    /// - Throws: ``StatusCode/dataLoss`` with the file and line at which the chain breaks; ``StatusCode/failedPrecondition`` if a file
    ///   cannot be read.
    package init(path: String) throws(StatusError) {
        let (parent, name) = AuditFile.split(path)
        do {
            let folder = try FileDescriptor.folder(atPath: parent)
            for file in try AuditFile.rotatedNumbers(of: name, in: folder).map({ "\(name).\($0)" }) + [name] {
                try verify(file, in: folder)
                fileCount += 1
            }
        } catch let error as StatusError {
            throw error
        } catch {
            throw StatusError(.failedPrecondition, "Cannot read the audit log \(Excerpt(path)): \(error).", cause: error)
        }
    }

    private mutating func verify(_ name: String, in folder: borrowing FileDescriptor) throws {
        let file = try folder.openFile(name, for: .reading)
        var splitter = LineSplitter(maximumBytes: AuditFile.maximumLineBytes)
        var (lineNumber, offset) = (0, 0)
        while true {
            let chunk = try file.read(Self.chunkBytes, at: offset)
            guard !chunk.isEmpty else { break }
            offset += chunk.count
            splitter.append(chunk)
            while let line = splitter.next() {
                lineNumber += 1
                do throws(StatusError) {
                    guard case .complete(let bytes) = line else { throw StatusError(.dataLoss, "the line is too long") }
                    try chain.append(bytes)
                    if firstNumber == nil { firstNumber = chain.number }
                } catch {
                    throw StatusError(.dataLoss, "The audit log was changed: \(name), line \(lineNumber): \(error.message).")
                }
            }
        }
        guard try offset == 0 || file.read(1, at: offset - 1) == [UInt8(ascii: "\n")] else {
            throw StatusError(.dataLoss, "The audit log was changed: \(name), line \(lineNumber + 1) is incomplete.")
        }
    }
}
