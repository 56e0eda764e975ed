import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// Takes files of documents: first they are checked, then they can be imported.
    func importing(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let query = request.items
            guard let submission else {
                guard let id = query["upload"] else {
                    let typed = ImportPage.Typed(collection: query["collection"]?.string ?? "")
                    return .page(ImportPage(typed: typed, limit: importLimit))
                }
                return .page(try await checkPage(id))
            }
            let form = submission.form
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, let id = form["upload"] { return try await runImport(id) }
            let typed = typedImport(form)
            let plan = plan(typed, noting: &problems)
            if form.file == nil || form.file?.bytes.isEmpty == true { problems.add(localized("Choose a file."), at: "file") }
            guard let file = form.file, problems.isEmpty else {
                return .page(ImportPage(typed: typed, problems: problems, limit: importLimit))
            }
            return .done(at: "\(AdminURL.importing)?upload=\(uploads.keep(file, plan, for: formName))", nil)
        }
    }

    private var importLimit: Int { context.server.limits.maximumBodyBytes }

    private func typedImport(_ form: Form) -> ImportPage.Typed {
        ImportPage.Typed(
            collection: form.text("collection"),
            idField: form["id"]?.string ?? "",
            format: form["format"].flatMap { ImportFormat(rawValue: $0.string) } ?? .automatic,
            keepsTexts: form.has("texts")
        )
    }

    private func plan(_ typed: ImportPage.Typed, noting problems: inout FormProblems) -> ImportPlan {
        var plan = ImportPlan(format: typed.format, keepsTexts: typed.keepsTexts)
        if !typed.collection.utf8.isEmpty {
            do throws(StatusError) {
                plan.collection = try CollectionPath(EditedText.string(ofLine: typed.collection) ?? typed.collection)
            } catch {
                problems.add(error.message, at: "collection")
            }
        }
        if !typed.idField.utf8.isEmpty { plan.idField = UTF8Key(EditedText.string(ofLine: typed.idField) ?? typed.idField) }
        return plan
    }

    /// What importing a file would do, with nothing written.
    private func checkPage(_ id: UTF8Key) async throws(StatusError) -> ImportPage {
        guard let upload = uploads.upload(id, for: formName) else {
            var problems = FormProblems()
            problems.add(localized("The file is no longer here. Choose it again."), at: "file")
            return ImportPage(problems: problems, limit: importLimit)
        }
        var check = ImportPage.Check(id: id, name: upload.file.name)
        let reader = ImportReader(upload.file.bytes, name: upload.file.name, plan: upload.plan)
        let caller = context.caller
        try await reader.read { result throws(StatusError) in
            do throws(ImportPlan.Fault) {
                let entry = try result.get()
                do throws(StatusError) {
                    try caller.check(entry.path)
                } catch {
                    throw ImportPlan.Fault(line: entry.line, error: error)
                }
                check.count += 1
                if check.sample.count < 5 { check.sample.append(entry.path) }
            } catch {
                check.faultCount += 1
                if check.faults.count < Work.Progress.maximumFaults { check.faults.append(Work.Fault(error)) }
            }
            return true
        }
        return ImportPage(check: check, limit: importLimit)
    }

    private func runImport(_ id: UTF8Key) async throws(StatusError) -> FormAnswer {
        guard let upload = uploads.upload(id, for: formName) else {
            return .done(at: "\(AdminURL.importing)?upload=\(PercentEncoding.encode(id))", nil)
        }
        uploads.remove(id)
        let backURL = upload.plan.collection.map { AdminURL.collection($0) } ?? AdminURL.overview
        return try await begin(.importing, backURL: backURL) { progress in
            .imported(progress.done)
        } _: { [context] work throws(StatusError) in
            try await Self.write(upload, in: context, work)
        }
    }

    private static func write(_ upload: Uploads.Upload, in context: ServiceContext, _ work: Work) async throws(StatusError) {
        var writer = DocumentWriter { writes throws(StatusError) in
            // The caller's key may have been revoked since the last ones.
            try context.authorize(.writer)
            _ = try await CommitWrites.call(.init(writes: writes), in: context)
        } onRefusal: { origin, error in
            work.update { $0.note(Work.Fault(ImportPlan.Fault(line: origin.line, error: error))) }
        }
        let reader = ImportReader(upload.file.bytes, name: upload.file.name, plan: upload.plan)
        var failure: StatusError?
        do throws(StatusError) {
            try await reader.read { result throws(StatusError) in
                switch result {
                case .success(let entry):
                    let origin = DocumentWriter.Origin(file: "", line: entry.line)
                    try await writer.write(entry.fields, at: entry.path, byteCount: entry.byteCount, from: origin)
                case .failure(let fault): work.update { $0.note(Work.Fault(fault)) }
                }
                work.update { [count = writer.writtenCount] in $0.done = count }
                return !work.isStopping
            }
            try await writer.flush()
        } catch {
            failure = error
        }
        work.update { [count = writer.writtenCount] in $0.done = count }
        if let failure { throw failure }
    }
}

extension Work.Fault {
    /// A line of a file that can't be imported.
    init(_ fault: ImportPlan.Fault) {
        self.init(place: localized("line {line}", ["line": Counting.grouped(fault.line)]), message: fault.error.forForm)
    }
}
