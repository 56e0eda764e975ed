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
    struct Found: Sendable {
        fileprivate let upload: Uploads.Upload
        fileprivate let check: ImportCheck

        init(_ upload: Uploads.Upload, _ check: ImportCheck) {
            (self.upload, self.check) = (upload, check)
        }
    }

    var chrome = PageChrome(title: localized("Import"))
    let status: HTTPResponse.Status
    private let typed: Typed
    private let problems: FormProblems
    private let found: Found?

    /// - Parameter status: Another status than what the problems come to.
    init(
        typed: Typed = Typed(),
        problems: FormProblems = FormProblems(),
        found: Found? = nil,
        status: HTTPResponse.Status? = nil
    ) {
        (self.typed, self.problems, self.found) = (typed, problems, found)
        self.status = status ?? (problems.isEmpty ? .ok : .unprocessableContent)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.importing
        case "worksURL": AdminURL.works
        case "file": FormField("file", "", problems: problems)
        case "collection": FormField("collection", typed.collection, problems: problems)
        case "idField": FormField("id", typed.idField, problems: problems)
        case "keepsTexts": typed.keepsTexts
        case "formatsMarkup": ImportFormat.allCases.map { Option($0.rawValue, $0.name, isCurrent: $0 == typed.format) }.listMarkup
        case "limit":
            localized(
                "Up to {size} MiB, also compressed with gzip; the command hearth import takes files of any size.",
                ["size": Counting.grouped(ImportFile.maximumBytes >> 20)]
            )
        case "check": found.orAbsent
        default: problems.child(named: name)
        }
    }
}

extension ImportPage.Found: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "upload": upload.id.string
        case "fileName": DisplayText(upload.file.name.string)
        case "found":
            localized(count: check.count, one: "{count} document can be imported.", other: "{count} documents can be imported.")
        case "canImport": check.count > 0
        case "newText":
            localized(
                count: check.newCount,
                one: "{count} of the documents is new.",
                other: "{count} of the documents are new."
            )
        case "hasExisting": check.existingCount > 0
        case "existingText":
            localized(
                count: check.existingCount,
                one: "{count} document has the path of one that is there already.",
                other: "{count} documents have the paths of some that are there already."
            )
        case "importText": localized(count: check.count, one: "Import {count} document", other: "Import {count} documents")
        case "sample":
            check.sample.map { LinkView(url: AdminURL.document($0), text: DisplayText($0.string.shortened(scalars: 80))) }
        case "repeatedText":
            !check.repeated.isEmpty
                ? localized(
                    count: check.repeated.count,
                    one:
                        "{count} document has a path that stands in the file before; the last one counts, or the first one where documents are kept.",
                    other:
                        "{count} documents have paths that stand in the file before; the last one counts, or the first one where documents are kept."
                ) : Absent()
        case "comparedText":
            check.isPartlyCompared
                ? localized(
                    count: check.maximumCompared,
                    one:
                        "The file has more documents than can be compared with each other. Behind the first path, one that stands twice is not told, and is counted twice.",
                    other:
                        "The file has more documents than can be compared with each other. Behind the first {count} paths, those that stand twice are not told, and are counted twice."
                ) : Absent()
        case "repeated": check.repeated.elements
        case "hasFaults": !check.faults.isEmpty
        case "faultText": localized(count: check.faults.count, one: "{count} cannot.", other: "{count} cannot.")
        case "faults": check.faults.elements.map(FaultView.init)
        case "hiddenFaults": check.faults.rest.orAbsent
        case "hiddenRepeated": check.repeated.rest.orAbsent
        default: nil
        }
    }
}

extension ImportCheck.Repetition: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": DisplayText(path.string.shortened(scalars: 80))
        case "lines":
            localized(
                "lines {first} and {second}",
                ["first": Counting.grouped(firstLine), "second": Counting.grouped(line)]
            )
        default: nil
        }
    }
}
