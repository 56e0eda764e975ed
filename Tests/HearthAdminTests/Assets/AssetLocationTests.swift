import DocumentModel
import Foundation
import Testing

@testable import HearthAdmin

@Suite("Asset locations")
struct AssetLocationTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-assets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.resolvingSymlinksInPath())
    }

    private func make(_ names: [String], in folder: URL) throws {
        for name in names {
            try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
        }
    }

    @Test
    func `The folders are found in an ancestor of the executable, through a symbolic link`() throws {
        try withFolder { folder in
            try make(["Templates", "Public", ".build/debug", "bin"], in: folder)
            let program = folder.appending(path: ".build/debug/hearth")
            try Data().write(to: program)
            let link = folder.appending(path: "bin/hearth")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: program)
            let location = try AssetLocation.find(program: link, installed: URL(filePath: "/nonexistent"))
            #expect(location.templates.path == folder.appending(path: "Templates").path)
            #expect(location.examples.path == folder.appending(path: "Examples").path)
            #expect(location.files.path == folder.appending(path: "Public").path)
        }
    }

    @Test
    func `The installation folder is used otherwise`() throws {
        try withFolder { folder in
            try make(["Templates", "Public"], in: folder)
            let location = try AssetLocation.find(program: URL(filePath: "/nonexistent/hearth"), installed: folder)
            #expect(location.files.path == folder.appending(path: "Public").path)
        }
    }

    @Test
    func `An explicit folder must contain both folders`() throws {
        try withFolder { folder in
            try make(["Templates"], in: folder)
            let error = #expect(throws: StatusError.self) { try AssetLocation.find(explicit: folder.path) }
            #expect(
                error?.message == """
                    The folder \(folder.path) is missing Public. \
                    Specify the folder that contains Hearth's Templates and Public.
                    """
            )
        }
    }

    @Test
    func `The error names the searched folders`() throws {
        let program = URL(filePath: "/nonexistent/bin/hearth")
        let error = #expect(throws: StatusError.self) {
            try AssetLocation.find(program: program, installed: URL(filePath: "/nonexistent/share"))
        }
        #expect(error?.message.contains("/nonexistent/bin/hearth") == true)
        #expect(error?.message.contains("/nonexistent/share") == true)
    }

    @Test
    func `Missing templates are named at startup`() throws {
        let catalog = try TestSite.catalog()
        try withFolder { folder in
            try Data("x".utf8).write(to: folder.appending(path: "overview.mustache"))
            let error = #expect(throws: StatusError.self) { try TemplateLibrary(folder: folder, catalog: catalog) }
            #expect(error?.message.contains("collection.mustache") == true)
            #expect(error?.message.contains("overview.mustache") == false)
        }
    }

    @Test
    func `An invalid template is named at startup`() throws {
        let catalog = try TestSite.catalog()
        try withFolder { folder in
            try Data("{{#open}}".utf8).write(to: folder.appending(path: "overview.mustache"))
            let error = #expect(throws: StatusError.self) { try TemplateLibrary(folder: folder, catalog: catalog) }
            #expect(error?.message.contains("overview.mustache") == true)
        }
    }
}
