import DocumentModel
import HTTPTypes
import UTF8Text

/// The import page: the upload form, and the preview of an uploaded file.
struct ImportPage: Page {
    static let template = TemplateLibrary.Name.import

    /// The input of the upload form, except for the file.
    struct Input: Sendable {
        var collection = ""
        var idField = ""
        var format = ImportFormat.automatic
        var readsCellsAsStrings = false
    }

    /// An uploaded file with its preview.
    struct PreviewedUpload: Sendable {
        fileprivate let upload: UploadStore.Upload
        fileprivate let preview: ImportPreview

        init(_ upload: UploadStore.Upload, _ preview: ImportPreview) {
            (self.upload, self.preview) = (upload, preview)
        }
    }

    var layout = PageLayout(title: localized("Import"))
    let status: HTTPResponse.Status
    private let input: Input
    private let problems: FormProblems
    private let previewedUpload: PreviewedUpload?

    /// - Parameter status: The status; by default it depends on whether there are problems.
    init(
        input: Input = Input(),
        problems: FormProblems = FormProblems(),
        previewedUpload: PreviewedUpload? = nil,
        status: HTTPResponse.Status? = nil
    ) {
        (self.input, self.problems, self.previewedUpload) = (input, problems, previewedUpload)
        self.status = status ?? (problems.isEmpty ? .ok : .unprocessableContent)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.import
        case "jobsURL": AdminURL.jobs
        case "file": FormField("file", "", problems: problems)
        case "collection": FormField("collection", input.collection, problems: problems)
        case "idField": FormField("id", input.idField, problems: problems)
        case "readsCellsAsStrings": input.readsCellsAsStrings
        case "formatsMarkup":
            ImportFormat.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == input.format) }.optionsMarkup
        case "limit":
            localized(
                "Up to {size} MiB, optionally compressed with gzip. The command hearth import accepts files of any size.",
                ["size": NumberFormat.grouped(UploadedFile.maximumBytes >> 20)]
            )
        case "preview": previewedUpload.orAbsent
        default: problems.child(named: name)
        }
    }
}

extension ImportPage.PreviewedUpload: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "uploadID": upload.id.string
        case "fileName": DisplayText(upload.file.name.string)
        case "countText":
            localized(
                count: preview.count,
                one: "{count} document can be imported.",
                other: "{count} documents can be imported."
            )
        case "canImport": preview.count > 0
        case "newText": localized(count: preview.newCount, one: "{count} document is new.", other: "{count} documents are new.")
        case "hasExisting": preview.existingCount > 0
        case "existingText":
            localized(
                count: preview.existingCount,
                one: "{count} document already exists.",
                other: "{count} documents already exist."
            )
        case "importText": localized(count: preview.count, one: "Import {count} document", other: "Import {count} documents")
        case "sample":
            preview.sample.map {
                LinkView(url: AdminURL.document($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 80)))
            }
        case "duplicatesText":
            !preview.duplicates.isEmpty
                ? localized(
                    count: preview.duplicates.count,
                    one:
                        "{count} document has the same path as an earlier one in the file. The last one is imported, or the first one if existing documents are kept.",
                    other:
                        "{count} documents have the same path as an earlier one in the file. The last one is imported, or the first one if existing documents are kept."
                ) : Absent()
        case "duplicates": preview.duplicates.elements
        case "omittedDuplicates": preview.duplicates.omissionNote.orAbsent
        case "trackedPathsText":
            preview.exceedsTrackedPaths
                ? localized(
                    count: preview.maximumTrackedPaths,
                    one:
                        "The file has too many documents to find all duplicate paths. Duplicates after the first path are not reported, and are counted twice.",
                    other:
                        "The file has too many documents to find all duplicate paths. Duplicates after the first {count} paths are not reported, and are counted twice."
                ) : Absent()
        case "hasItemErrors": !preview.itemErrors.isEmpty
        case "itemErrorsText":
            localized(count: preview.itemErrors.count, one: "{count} cannot be imported.", other: "{count} cannot be imported.")
        case "itemErrors": preview.itemErrors.elements.map(ItemErrorView.init)
        case "omittedItemErrors": preview.itemErrors.omissionNote.orAbsent
        default: nil
        }
    }
}

extension ImportPreview.DuplicatePath: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": DisplayText(path.string.truncatingMiddle(toScalars: 80))
        case "lines":
            localized(
                "lines {first} and {second}",
                ["first": NumberFormat.grouped(firstLine), "second": NumberFormat.grouped(line)]
            )
        default: nil
        }
    }
}
