import DocumentModel
import HTTPTypes
import StrictJSON

/// Takes a file of documents, says what is in it and what is wrong, and imports it.
struct ImportPage: Page {
    static let template = TemplateLibrary.Name.importing

    /// What was typed beside the file.
    struct Typed: Sendable {
        var collection = ""
        var idField = ""
        var format = ImportFormat.automatic
        var keepsTexts = false
    }

    /// What was found in a file.
    struct Check: Sendable {
        let id: UTF8Key
        let name: UTF8Key
        var count = 0
        var faults: [Work.Fault] = []
        var faultCount = 0
        /// The first few documents.
        var sample: [DocumentPath] = []
    }

    var chrome = PageChrome(title: localized("Import"))
    let status: HTTPResponse.Status
    private let typed: Typed
    private let problems: FormProblems
    private let check: Check?
    private let limit: Int

    /// - Parameter limit: How many bytes a file may have.
    init(typed: Typed = Typed(), problems: FormProblems = FormProblems(), check: Check? = nil, limit: Int) {
        (self.typed, self.problems, self.check, self.limit) = (typed, problems, check, limit)
        status = problems.isEmpty ? .ok : .unprocessableContent
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.importing
        case "file": FormField("file", "", problems: problems)
        case "collection": FormField("collection", typed.collection, problems: problems)
        case "idField": FormField("id", typed.idField, problems: problems)
        case "keepsTexts": typed.keepsTexts
        case "formats": ImportFormat.allCases.map { Option($0.rawValue, $0.name, isCurrent: $0 == typed.format) }
        case "limit":
            localized(
                "Up to {size} MiB; larger files are imported by the command hearth import.",
                ["size": Counting.grouped(limit >> 20)]
            )
        case "check": check.map { CheckView($0) }.orAbsent
        default: problems.child(named: name)
        }
    }
}

/// What was found in a file, for the page.
struct CheckView: Sendable {
    private let check: ImportPage.Check

    init(_ check: ImportPage.Check) {
        self.check = check
    }
}

extension CheckView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "upload": check.id.string
        case "fileName": DisplayText(check.name.string)
        case "found":
            localized(count: check.count, one: "{count} document can be imported.", other: "{count} documents can be imported.")
        case "canImport": check.count > 0
        case "importText": localized(count: check.count, one: "Import {count} document", other: "Import {count} documents")
        case "sample":
            check.sample.map { LinkView(url: AdminURL.document($0), text: DisplayText($0.string.shortened(scalars: 80))) }
        case "hasFaults": check.faultCount > 0
        case "faultText": localized(count: check.faultCount, one: "{count} cannot.", other: "{count} cannot.")
        case "faults": check.faults.map(FaultView.init)
        case "hiddenFaults":
            check.faultCount > check.faults.count
                ? localized(count: check.faultCount - check.faults.count, one: "And {count} more.", other: "And {count} more.")
                : Absent()
        default: nil
        }
    }
}
