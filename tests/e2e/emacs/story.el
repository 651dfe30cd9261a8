;;; story.el --- A person works with Kova in stock Eglot  -*- lexical-binding: t; -*-

;; Run by `emacs --batch'; what the person types in the minibuffer comes from standard input.
;; Nothing here teaches Eglot anything: only its own functions are called.

(require 'package)
(package-initialize)
(require 'eglot)

(defun story-note (format &rest arguments)
  "Write a line that the test reads."
  (let ((print-escape-newlines t))
    (princ (concat "STORY " (apply #'format format arguments) "\n") #'external-debugging-output)))

(defun story-wait (what test)
  "Let Eglot work until TEST holds; WHAT says what is waited for."
  (let ((deadline (+ (float-time) 12)) held)
    (while (not (setq held (funcall test)))
      (when (> (float-time) deadline)
        (story-note "gave up waiting for %s" what)
        (dolist (buffer (buffer-list))
          (when (string-match-p "EGLOT.*\\(events\\|stderr\\)" (buffer-name buffer))
            (princ (with-current-buffer buffer
                     (buffer-substring (max (point-min) (- (point-max) 2500)) (point-max)))
                   #'external-debugging-output)))
        (kill-emacs 3))
      (accept-process-output nil 0.05))
    held))

(defvar story-heard nil "What the server said, newest first.")

(advice-add 'eglot--message :before
            (lambda (format &rest arguments)
              (push (apply #'format format arguments) story-heard)))

(defun story-heard (words)
  "Wait for a message that holds WORDS, and return it."
  (story-wait words (lambda () (seq-find (lambda (said) (string-search words said)) story-heard))))

(let* ((file (getenv "STORY_FILE"))
       (eglot-server-programs `((text-mode . (,(getenv "STORY_PYTHON") "-m" "kova_ls"))))
       (eglot-sync-connect 30)
       (eglot-autoshutdown nil)
       (eglot-confirm-server-initiated-edits (not (getenv "STORY_LETS_EDIT")))
       (buffer (find-file-noselect file)))
  (with-current-buffer buffer
    (text-mode)
    (call-interactively #'eglot)
    (let ((server (story-wait "the server" #'eglot-current-server)))
      (story-note "connected")
      (goto-char (point-min))
      (let* ((actions (eglot-code-actions (point-min) (line-end-position)))
             (ask (seq-find (lambda (action) (string-prefix-p "Ask Kova" (plist-get action :title)))
                            actions)))
        (story-note "action %s" (plist-get ask :title)))
      (let ((answer (eglot-execute-command server 'kova.ask ["Change one to two."])))
        (story-note "asked %s" (plist-get answer :status))
        (story-note "card %s" (story-heard "Kova waits"))
        (eglot-execute-command server 'kova.pending [])
        (story-note "end %s" (story-heard "Now it is two."))
        (let ((page (eglot--uri-to-path (plist-get answer :transcript))))
          (story-heard page)
          (with-current-buffer (find-file-noselect page)
            (story-note "page %S" (buffer-string)))))
      (story-note "buffer %S %S" (buffer-string) (buffer-modified-p))
      (when (buffer-modified-p)
        (undo-boundary) ; as the command loop does after each command
        (undo)
        (story-note "undone %S" (buffer-string)))
      (revert-buffer t t t)
      (story-note "file %S" (buffer-string))
      (eglot-shutdown server)
      (story-note "left"))))
