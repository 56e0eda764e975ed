import Foundation
import TestSupport
import Testing

@testable import StorageIO

@Suite("Files that are put into place")
struct AtomicFileWriterTests {
    private let root: TemporaryFolder

    init() throws {
        root = try TemporaryFolder()
    }

    /// Puts a file with the text "new" in the place of `n`, which others have changed to "edit" after it was written.
    private func replace(keeping keep: @escaping AtomicFileWriter.Keeper) throws {
        try root.write("old", to: "n")
        let folder = try FileDescriptor.folder(atPath: root.path)
        var writer = AtomicFileWriter(hasLeftoverTemporaryFile: false)
        let staged = try writer.write(Array("new".utf8), modifiedAt: 0, in: folder, isReplacing: true)
        try root.write("edit", to: "n")
        try writer.moveIntoPlace(staged, as: "n", in: folder, keeping: keep)
        #expect(!writer.hasLeftoverTemporaryFile)
    }

    @Test func `A replaced file that is put back has its name again, and the new one is gone`() throws {
        try replace { _, _, _ in .putBack }
        #expect(try root.text(of: "n") == "edit" && root.names() == ["n"])
    }

    @Test(arguments: [true, false])
    func `Of a file that is put back and one that was saved in the meantime, the later one has the name`(inPlace: Bool) throws {
        try replace { _, _, _ in
            #expect((try? root.write("later", to: inPlace ? "n" : "m")) != nil)
            if !inPlace { #expect(rename(root["m"], root["n"]) == 0) }
            return .putBack
        }
        #expect(try root.text(of: "n") == "later" && root.names() == ["n"])
    }

    @Test func `A file that was removed while another one is put back stays removed`() throws {
        try replace { _, _, _ in
            #expect((try? root.remove("n")) != nil)
            return .putBack
        }
        #expect(try root.names() == [])
    }

    @Test func `A removed file that is put back has its name again, unless another one has it`() throws {
        let folder = try FileDescriptor.folder(atPath: root.path)
        var writer = AtomicFileWriter(hasLeftoverTemporaryFile: false)
        try root.write("edit", to: "n")
        #expect(try writer.remove("n", from: folder) { _, _, _ in .putBack })
        #expect(try root.text(of: "n") == "edit" && root.names() == ["n"])
        _ = try writer.remove("n", from: folder) { _, _, _ in
            #expect((try? root.write("later", to: "n")) != nil)
            return .putBack
        }
        #expect(try root.text(of: "n") == "later" && root.names() == ["n"])
    }
}
