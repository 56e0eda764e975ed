import Foundation
import TestSupport

/// `hearth check` as a crash test uses it.
enum FolderCheck {
    /// What it finds in the folder of a server that was stopped cleanly: the documents, the journal and the index are compared.
    static func findings(in data: URL) async throws -> [String] {
        let result = try await hearth("check", "--data", data.path)
        return result.status == .code(0) ? [] : result.output.dropLast() + (result.errorText.isEmpty ? [] : [result.errorText])
    }

    /// What it finds in a copy of the folder of a server that has recovered it, while nobody writes. The index is left out: the server
    /// may be working on it.
    static func findings(inCopyOf data: URL) async throws -> [String] {
        let copy = data.deletingLastPathComponent().appending(path: "checked")
        let files = FileManager.default
        try files.createDirectory(at: copy, withIntermediateDirectories: false)
        defer { try? files.removeItem(at: copy) }
        for name in try files.contentsOfDirectory(atPath: data.path) {
            // A file that is being replaced is whole under its own name, and hidden until then.
            if name.hasPrefix("index.sqlite") || name.hasPrefix(".") { continue }
            try files.copyItem(at: data.appending(path: name), to: copy.appending(path: name))
        }
        return try await findings(in: copy)
    }
}
