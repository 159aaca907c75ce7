; An installer for one person: no administrator is asked.
; makensis -DFOLDER=... -DVERSION=... -DOUT=... decoderscope.nsi
Unicode true
Target amd64-unicode  ; the usual stub is a program of 32 bits
SetCompressor /SOLID lzma
Name "Decoderscope"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Decoderscope"
InstallDirRegKey HKCU "Software\Decoderscope" "Folder"
RequestExecutionLevel user
ManifestDPIAware true
Icon "${ICON}"
UninstallIcon "${ICON}"
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Decoderscope"
!define SHCHANGE 'shell32::SHChangeNotify(i 0x08000000, i 0, i 0, i 0)'  ; the association of a file's ending changed

Section
    SetOutPath "$INSTDIR"
    RMDir /r "$INSTDIR\share"  ; an older version's
    File /r "${FOLDER}/*.*"
    SetOutPath "$DOCUMENTS"  ; where the program then begins to look for files
    CreateShortcut "$SMPROGRAMS\Decoderscope.lnk" "$INSTDIR\decoderscope.exe"
    WriteRegStr HKCU "Software\Decoderscope" "Folder" "$INSTDIR"
    WriteRegStr HKCU "Software\Classes\.dscope" "" "Decoderscope.Session"
    WriteRegStr HKCU "Software\Classes\Decoderscope.Session" "" "Decoderscope session"
    WriteRegStr HKCU "Software\Classes\Decoderscope.Session\DefaultIcon" "" "$INSTDIR\decoderscope.exe,0"
    WriteRegStr HKCU "Software\Classes\Decoderscope.Session\shell\open\command" "" '"$INSTDIR\decoderscope.exe" "%1"'
    WriteUninstaller "$INSTDIR\uninstall.exe"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Decoderscope"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\decoderscope.exe"
    WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    System::Call '${SHCHANGE}'
SectionEnd

Section "Uninstall"
    RMDir /r "$INSTDIR\share"
    RMDir /r "$INSTDIR\licences"
    Delete "$INSTDIR\decoderscope.exe"
    Delete "$INSTDIR\decoderscope.com"
    Delete "$INSTDIR\LICENSE.txt"
    Delete "$INSTDIR\THIRD_PARTY_LICENSES.md"
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    Delete "$SMPROGRAMS\Decoderscope.lnk"
    DeleteRegKey HKCU "Software\Classes\Decoderscope.Session"
    DeleteRegValue HKCU "Software\Classes\.dscope" ""
    DeleteRegKey HKCU "Software\Decoderscope"
    DeleteRegKey HKCU "${UNINSTALL}"
    System::Call '${SHCHANGE}'
SectionEnd
